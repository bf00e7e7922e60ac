import { expect, it, vi } from 'vitest';
import type { ContentType } from '../type/definition';
import { ObjectEditor } from './editor.svelte';
import type { Later } from './later';
import type { StoredObject } from './store';

const requests = vi.hoisted(() => ({ later: [] as ((later: unknown) => void)[] }));

vi.mock('../session/session.svelte', () => ({
  session: { context: null, mayPublish: true },
  may: () => true,
  formFor: () => ({ fields: [] }),
  loadSession: () => Promise.resolve(),
}));
vi.mock('./later', () => ({
  readLater: () => new Promise((done) => requests.later.push(done)),
}));
vi.mock('./keeper', () => ({
  Keeper: class {
    touch() {}
  },
}));
vi.mock('./store', async (original) => ({
  ...(await original<object>()),
  send: (_type: string, write: { values: object }) =>
    Promise.resolve({ data: stored('a', write.values, 2), etag: '"2"' }),
}));

const stored = (id: string, values: object, version: number): StoredObject => ({
  id,
  ...values,
  internal: { latestVersion: version },
});

it('does not show an older state that arrives after saving', async () => {
  const type = { name: 'post', workflowId: null } as unknown as ContentType;
  const object = stored('a', { title: 'old' }, 1);
  const opened = { object, etag: '"1"', workId: 'a', deleted: false, found: null, copy: null };
  const events = { saved: vi.fn(), created: vi.fn(), updated: vi.fn(), detached: vi.fn() };
  const editor = new ObjectEditor(type, opened, 'tab', events);
  const others = { by: [], version: 1, names: [], converted: false };
  const answer = (later: Later) => requests.later.shift()?.(later);

  const refreshed = editor.refresh();
  await Promise.resolve();
  editor.draft.set('title', 'new');
  expect(await editor.save()).toBe(true);
  answer({ object, etag: '"0"', others });
  await vi.waitFor(() => expect(requests.later).toHaveLength(1));
  answer({ object: stored('a', { title: 'new' }, 2), etag: '"2"', others });
  await refreshed;
  expect(editor.draft.mine).toEqual({ title: 'new' });
  expect(editor.draft.base?.etag).toBe('"2"');
});
