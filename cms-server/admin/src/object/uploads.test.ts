import { describe, expect, it, vi } from 'vitest';
import { UploadGroup } from './upload-group';
import { refusalBeforeSending, Uploads } from './uploads.svelte';

const server = vi.hoisted(() => ({ respond: [] as ((response: unknown) => void)[] }));
vi.mock('../api/upload', () => ({
  uploadFile: () => new Promise((done) => server.respond.push(done)),
}));
vi.mock('../session/session.svelte', () => ({ session: { context: null } }));
vi.mock('./summary', () => ({ MEDIA_TYPE: '_media', summaryOf: () => ({}) }));

const limits = { fileBytes: 100, mediaTypes: ['image/png'] };

describe('uploads', () => {
  it.each([
    [{ size: 10, type: 'image/png' }, false, null],
    [{ size: 10, type: '' }, false, null],
    [{ size: 0, type: 'image/png' }, false, { kind: 'empty' }],
    [{ size: 101, type: 'image/png' }, false, { kind: 'size', limit: 100 }],
    [{ size: 101, type: 'image/png' }, true, { kind: 'size', limit: 100 }],
    [{ size: 10, type: 'video/quicktime' }, false, { kind: 'type' }],
    [{ size: 10, type: 'video/quicktime' }, true, null],
  ])('refuses %j before sending (again: %s): %j', (file, insisted, expected) => {
    expect(refusalBeforeSending(file, limits, insisted)).toEqual(expected);
  });
});

describe('a group of uploads', () => {
  it('runs until the last file is stored, refused or cancelled', async () => {
    const group = new UploadGroup();
    const [images, files] = [new Uploads(() => undefined), new Uploads(() => undefined)];
    const remove = group.add(images);
    group.add(files);
    expect(group.running).toBe(0);
    images.add([new File(['a'], 'a.png'), new File(['b'], 'b.png')]);
    files.add([new File(['c'], 'c.png')]);
    expect(group.running).toBe(3);
    server.respond.shift()?.({ data: {} });
    server.respond.shift()?.({ problem: { status: 400 } });
    await vi.waitFor(() => expect(group.running).toBe(1));
    files.pause();
    files.cancelAll();
    expect(group.running).toBe(0);
    images.add([new File(['d'], 'd.png')]);
    expect(group.running).toBe(1);
    remove();
    expect(group.running).toBe(0);
  });
});
