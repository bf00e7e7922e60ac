import { beforeEach, describe, expect, it, vi } from 'vitest';
import { networkProblem } from '../api/problem';
import { sendAllUnsavedWork } from './sign-out-work';
import { OwnedWorkingCopy } from './owned-working-copy';
import type { CopyContent } from './working-copy';
import type { UnsavedWork } from './unsaved-work-db';

/** The server has one copy; `down` makes it unavailable. `onDevice` is the unsaved work in the browser. */
const server = vi.hoisted(() => ({
  copy: null as { content: { values: object; workId?: string }; tag: number } | null,
  tags: 0,
  down: false,
  onDevice: [] as unknown[],
}));
const problem = (status: number) => ({ problem: { ...networkProblem(), status } });
const responseOf = () => {
  const { content, tag } = server.copy ?? { content: { values: {} }, tag: 0 };
  return { data: { data: { ...content.values, '~work': content.workId } }, etag: `"${String(tag)}"` };
};
const refused = (etag: string | null) => etag !== null && etag !== `"${String(server.copy?.tag)}"`;
function put(content: CopyContent, etag: string | null) {
  if (server.down) return problem(503);
  if (refused(etag)) return problem(412);
  server.copy = { content, tag: (server.tags += 1) };
  return responseOf();
}

vi.mock('./unsaved-work-db', () => ({ listUnsavedWork: () => Promise.resolve(server.onDevice) }));
vi.mock('./working-copy', async (original) => ({
  ...(await original<object>()),
  readCopy: () => Promise.resolve(server.down ? problem(503) : server.copy ? responseOf() : problem(404)),
  writeCopy: (_type: string, _id: string, content: CopyContent, etag: string | null) =>
    Promise.resolve(put(content, etag)),
  // The page does not read the response.
  sendCopyOnLeave: (_type: string, _id: string, content: CopyContent, etag: string | null) => {
    put(content, etag);
    return Promise.resolve(null);
  },
  removeCopy: (_type: string, _id: string, etag: string) => {
    if (refused(etag)) return Promise.resolve(problem(412));
    server.copy = null;
    return Promise.resolve({ data: undefined, etag: null });
  },
}));

beforeEach(() => void Object.assign(server, { copy: null, down: false, onDevice: [] }));

const text = (title: string): CopyContent => ({ values: { title }, base: null });
const copyOf = (work: string, tag: string | null = null) => new OwnedWorkingCopy('post', 'a', work, tag);

describe('unsaved work on the server', () => {
  it('does not replace the text of another device', async () => {
    const [phone, laptop] = [copyOf('phone', null), copyOf('laptop', null)];
    expect(await phone.write(text('from the phone'))).toBe('stored');
    expect(await laptop.write(text('from the laptop'))).toBe('other-work');
    await laptop.remove();
    expect(server.copy?.content.values).toEqual({ title: 'from the phone' });
  });

  it('does not replace the text of another device while the page is hidden', async () => {
    const [phone, laptop] = [copyOf('phone', null), copyOf('laptop', null)];
    await phone.write(text('from the phone'));
    await laptop.send(text('from the laptop'));
    expect(server.copy?.content.values).toEqual({ title: 'from the phone' });
  });

  it('does not replace what it could not read when the object was opened', async () => {
    await copyOf('phone', null).write(text('from the phone'));
    server.down = true;
    const laptop = copyOf('laptop');
    expect(await laptop.write(text('a'))).toMatchObject({ problem: { status: 503 } });
    await laptop.send(text('a'));
    server.down = false;
    expect(await laptop.write(text('a'))).toBe('other-work');
    expect(server.copy?.content.values).toEqual({ title: 'from the phone' });
  });

  it('continues its own copy after the page was hidden', async () => {
    const copy = copyOf('laptop', null);
    await copy.write(text('a'));
    await copy.send(text('ab'));
    expect(await copy.write(text('abc'))).toBe('stored');
    await copy.send(text('abcd'));
    await copy.remove();
    expect(server.copy).toBeNull();
  });

  it('sends, while the page closes, what was typed after a Discard', async () => {
    const copy = copyOf('laptop', null);
    await copy.write(text('a'));
    await copy.remove();
    await copy.send(text('typed after it'));
    expect(server.copy?.content.values).toEqual({ title: 'typed after it' });
  });

  it('sends the newest of two texts on one object at sign-out, and reports the other', async () => {
    const work = (name: string, title: string, savedAt: number): UnsavedWork => ({
      ...{
        user: 'u',
        type: 'post',
        id: 'a',
        workId: name,
        tab: 't',
        base: null,
        sentTag: null,
        synced: false,
      },
      ...{ savedAt, values: { title } },
    });
    server.onDevice = [work('two', 'newer', 2), work('one', 'older', 1)];
    expect(await sendAllUnsavedWork('u')).toBe(1);
    expect(server.copy?.content.values).toEqual({ title: 'newer' });
  });
});
