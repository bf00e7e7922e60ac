import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { networkProblem } from '../api/problem';
import { UnsavedWorkStore, type UnsavedWorkState } from './unsaved-work';
import type { UnsavedWork } from './unsaved-work-db';
import type { CopyContent } from './working-copy';

// What this browser and the server have stored; both can be broken.
const device = vi.hoisted(() => ({ works: new Map<string, UnsavedWork>(), broken: false }));
const server = vi.hoisted(() => ({
  copies: new Map<string, { values: unknown; etag: string; workId?: string | undefined }>(),
  broken: false,
  writes: 0,
  delay: 10,
  /** The maximum length of the values as JSON. */
  limit: Infinity,
}));

vi.mock('../session/session.svelte', () => ({ session: { isOtherUser: false } }));
vi.mock('./unsaved-work-db', () => ({
  putUnsavedWork: async (work: UnsavedWork) => {
    await new Promise((done) => setTimeout(done, 5));
    if (device.broken) throw new Error('QuotaExceededError');
    device.works.set(`${work.id}/${work.workId}`, work);
  },
  deleteUnsavedWork: (work: UnsavedWork) =>
    Promise.resolve(void device.works.delete(`${work.id}/${work.workId}`)),
}));
vi.mock('./working-copy', () => {
  const refused = (id: string, tag: string | null) => tag !== null && server.copies.get(id)?.etag !== tag;
  const problem = (status: number) => ({ problem: { ...networkProblem(), status } });
  const write = async (_type: string, id: string, content: CopyContent, tag: string | null) => {
    await new Promise((done) => setTimeout(done, server.delay));
    server.writes += 1;
    if (server.broken) return problem(0);
    if (JSON.stringify(content.values).length > server.limit) return problem(413);
    if (refused(id, tag)) return problem(412);
    const etag = `"${String(server.writes)}"`;
    server.copies.set(id, { values: content.values, etag, workId: content.workId });
    return { data: {}, etag };
  };
  return {
    writeCopy: write,
    readCopy: (_type: string, id: string) => {
      const copy = server.copies.get(id);
      return Promise.resolve(
        server.broken ? problem(0) : copy ? { data: copy, etag: copy.etag } : problem(404),
      );
    },
    contentOf: (copy: { values: unknown; workId?: string }) => ({ ...copy, version: null }),
    sendCopyOnLeave: async (type: string, id: string, content: CopyContent, tag: string | null) => {
      const result = await write(type, id, content, tag);
      return 'etag' in result ? result.etag : null;
    },
    removeCopy: (_type: string, id: string, etag: string) => {
      if (refused(id, etag)) return Promise.resolve(problem(412));
      server.copies.delete(id);
      return Promise.resolve({ data: undefined, etag: null });
    },
  };
});

const NAME = { user: 'ada', type: 'product', id: 'kettle', workId: 'w1', tab: 't1' };
let values: Record<string, unknown> | null;
let state: UnsavedWorkState;

function unsavedWork(tag: string | null = null): UnsavedWorkStore {
  const content = () => (values === null ? null : { values, base: null });
  return new UnsavedWorkStore(NAME, content, (reported) => (state = reported), tag !== null, tag);
}

function type(target: UnsavedWorkStore, text: string): void {
  values = { name: text };
  target.contentChanged();
}

const onDevice = (key = 'kettle/w1') => device.works.get(key)?.values;
const onServer = (id = 'kettle') => server.copies.get(id)?.values;

beforeEach(() => {
  vi.useFakeTimers();
  device.works.clear();
  device.broken = false;
  server.copies.clear();
  Object.assign(server, { broken: false, writes: 0, delay: 10, limit: Infinity });
  values = null;
  state = { status: 'empty', at: null, deviceFailed: false };
});
afterEach(() => void vi.useRealTimers());

describe('unsaved work', () => {
  it('is stored in this browser within a second, even while the user continues to type', async () => {
    const target = unsavedWork();
    for (let text = 'a'; text.length <= 10; text += 'a') {
      type(target, text);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(onDevice()).toBeDefined();
    expect(server.writes).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(onDevice()).toEqual({ name: 'aaaaaaaaaa' });
    expect(state.status).toBe('stored');
  });

  it('is on the server five seconds after the last key, or when the user leaves the field', async () => {
    const target = unsavedWork();
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(4900);
    expect(onServer()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(onServer()).toEqual({ name: 'a' });
    type(target, 'ab');
    const flushed = target.flush();
    await vi.advanceTimersByTimeAsync(50);
    await flushed;
    expect(onServer()).toEqual({ name: 'ab' });
    expect(server.writes).toBe(2);
  });

  it('has the status "stored" only once the last key press is stored', async () => {
    server.delay = 3000;
    const target = unsavedWork();
    device.broken = true;
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(700);
    type(target, 'ab');
    await vi.advanceTimersByTimeAsync(3100);
    expect(onServer()).toEqual({ name: 'a' });
    expect(state.status).toBe('pending');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(onServer()).toEqual({ name: 'ab' });
    expect(state).toMatchObject({ status: 'stored', deviceFailed: true });
  });

  it('is sent immediately when the browser refuses it, and has failed when nothing stores it', async () => {
    device.broken = true;
    const target = unsavedWork();
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(700);
    expect(onServer()).toEqual({ name: 'a' });
    expect(state).toMatchObject({ status: 'stored', deviceFailed: true });
    server.broken = true;
    type(target, 'ab');
    await vi.advanceTimersByTimeAsync(700);
    expect(state.status).toBe('failed');
    device.broken = false;
    type(target, 'abc');
    await vi.advanceTimersByTimeAsync(700);
    expect(state).toMatchObject({ status: 'stored', deviceFailed: false });
  });

  it('that the server refuses as too large stays in this browser, and is sent when it is shorter', async () => {
    server.limit = 50;
    const target = unsavedWork();
    type(target, 'a'.repeat(100));
    await vi.advanceTimersByTimeAsync(6000);
    expect(server.writes).toBe(1);
    expect(state.status).toBe('stored');
    type(target, 'a'.repeat(101));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(server.writes).toBe(1);
    expect(onDevice()).toEqual({ name: 'a'.repeat(101) });
    type(target, 'short');
    await vi.advanceTimersByTimeAsync(6000);
    expect(onServer()).toEqual({ name: 'short' });
  });

  it('is removed everywhere when it is saved, after the write that is on its way', async () => {
    server.delay = 2000;
    const target = unsavedWork();
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(5500);
    values = null;
    target.contentChanged();
    await vi.advanceTimersByTimeAsync(5000);
    expect([device.works.size, server.copies.size, state.status]).toEqual([0, 0, 'empty']);
  });

  it.each([
    ['this browser', 600],
    ['the server', 5500],
  ])('that is typed after a save stays, although %s is still storing earlier text', async (_place, ms) => {
    server.delay = 8000;
    const target = unsavedWork();
    type(target, 'saved');
    await vi.advanceTimersByTimeAsync(ms);
    values = null;
    target.contentChanged();
    type(target, 'typed later');
    await vi.advanceTimersByTimeAsync(9000);
    expect([state.status, onDevice()]).toEqual(['stored', { name: 'typed later' }]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([onDevice(), onServer()]).toEqual([{ name: 'typed later' }, { name: 'typed later' }]);
  });

  it('of another tab stays on the server when this tab is saved', async () => {
    const target = unsavedWork();
    type(target, 'mine');
    await vi.advanceTimersByTimeAsync(6000);
    server.copies.set('kettle', { values: { name: 'of the other tab' }, etag: '"other"' });
    values = null;
    await target.clear();
    expect(onServer()).toEqual({ name: 'of the other tab' });
  });

  it('that was found is removed by its own ETag', async () => {
    server.copies.set('kettle', { values: { name: 'found' }, etag: '"7"' });
    await unsavedWork('"7"').clear();
    expect(server.copies.size).toBe(0);
  });

  it('stays on this device while the user has not decided on an earlier copy', async () => {
    server.copies.set('kettle', { values: { name: 'earlier' }, etag: '"7"' });
    const target = unsavedWork('"7"');
    target.deviceOnly = true;
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(20_000);
    target.flushOnPageHide();
    values = null;
    await target.clear();
    await vi.advanceTimersByTimeAsync(100);
    expect(onServer()).toEqual({ name: 'earlier' });
    await target.deleteFound(null);
    expect(server.copies.size).toBe(0);
  });

  it('of an earlier state is removed only after the work that it was merged into is stored', async () => {
    const earlier = { ...NAME, workId: 'w0', values: {} } as UnsavedWork;
    device.works.set('kettle/w0', earlier);
    server.copies.set('kettle', { values: { name: 'earlier' }, etag: '"7"', workId: 'w0' });
    device.broken = server.broken = true;
    const target = unsavedWork('"7"');
    target.deviceOnly = true;
    const merge = async (text: string) => {
      type(target, text);
      void target.deleteFound('w0');
      await vi.advanceTimersByTimeAsync(100);
    };
    await merge('stored nowhere');
    expect([onDevice('kettle/w0'), onServer()]).toEqual([{}, { name: 'earlier' }]);
    server.broken = false;
    await merge('stored on the server');
    expect([onDevice('kettle/w0'), onServer()]).toEqual([undefined, { name: 'stored on the server' }]);
    device.broken = false;
    device.works.set('kettle/w0', earlier);
    await merge('stored here');
    expect([onDevice('kettle/w0'), onDevice()]).toEqual([undefined, { name: 'stored here' }]);
  });

  it('has the creation that was sent last, until it is removed', async () => {
    const target = unsavedWork();
    type(target, 'a');
    target.storeCreation({ key: 'k', values: { name: 'a' } });
    type(target, 'ab');
    await vi.advanceTimersByTimeAsync(1000);
    const creation = () => device.works.get('kettle/w1')?.creation;
    expect(creation()).toEqual({ key: 'k', values: { name: 'a' }, text: '{"name":"a"}' });
    void target.clear();
    type(target, 'another object');
    await vi.advanceTimersByTimeAsync(1000);
    expect([onDevice(), creation()]).toEqual([{ name: 'another object' }, undefined]);
  });

  it('is sent when the page is hidden, and removed later if the page was not closed', async () => {
    const target = unsavedWork();
    type(target, 'a');
    target.flushOnPageHide();
    await vi.advanceTimersByTimeAsync(50);
    expect([onDevice(), onServer()]).toEqual([{ name: 'a' }, { name: 'a' }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.writes).toBe(1);
    values = null;
    await target.clear();
    expect(server.copies.size).toBe(0);
  });

  it('is sent automatically when the server is available again', async () => {
    const target = unsavedWork();
    server.broken = true;
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onServer()).toBeUndefined();
    server.broken = false;
    await vi.advanceTimersByTimeAsync(61_000);
    expect(onServer()).toEqual({ name: 'a' });
  });

  it('is stored a last time when the screen is left, then no more', async () => {
    const target = unsavedWork();
    type(target, 'a');
    const ended = target.end();
    await vi.advanceTimersByTimeAsync(50);
    await ended;
    await vi.advanceTimersByTimeAsync(20_000);
    expect([onDevice(), onServer(), server.writes]).toEqual([{ name: 'a' }, { name: 'a' }, 1]);
  });

  it('moves to a new object, and is removed from the old one only when it is stored', async () => {
    const target = unsavedWork();
    type(target, 'a');
    await vi.advanceTimersByTimeAsync(6000);
    const move = target.move('~new', 'w2');
    await vi.advanceTimersByTimeAsync(50);
    await move;
    expect([onDevice(), onDevice('~new/w2'), onServer('~new')]).toEqual([
      undefined,
      { name: 'a' },
      { name: 'a' },
    ]);
    device.broken = server.broken = true;
    const second = target.move('~newer', 'w3');
    await vi.advanceTimersByTimeAsync(50);
    await second;
    expect([state.status, onDevice('~new/w2')]).toEqual(['failed', { name: 'a' }]);
  });
});
