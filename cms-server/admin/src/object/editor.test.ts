import { expect, it, vi } from 'vitest';
import { networkProblem } from '../api/problem';
import { t } from '../text';
import type { ContentType } from '../type/definition';
import { ObjectEditor } from './editor.svelte';
import type { NewerVersion } from './newer-version';
import type { StoredObject } from './object-requests';
import { publishingOf } from './publishing.svelte';

const requests = vi.hoisted(() => ({
  pending: [] as ((newerVersion: unknown) => void)[],
  /** The statuses of the next saves; others succeed. 0: the response is lost. */
  refusals: [] as number[],
}));

vi.mock('../session/session.svelte', () => ({
  session: { context: null },
  isReadonlyState: () => false,
  may: () => true,
  formFor: () => ({ fields: [{ name: 'title', oldName: null }] }),
  loadSession: () => Promise.resolve(),
}));
vi.mock('./newer-version', async (original) => ({
  ...(await original<object>()),
  readNewerVersion: () => new Promise((done) => requests.pending.push(done)),
}));
vi.mock('./unsaved-work', () => ({
  UnsavedWorkStore: class {
    contentChanged() {}
  },
}));
vi.mock('./object-requests', async (original) => ({
  ...(await original<object>()),
  sendSave: (_type: string, write: { values: object }) => {
    const status = requests.refusals.shift();
    if (status !== undefined) return Promise.resolve({ problem: { ...networkProblem(), status } });
    return Promise.resolve({ data: stored('a', write.values, 2), etag: '"2"' });
  },
}));

const stored = (id: string, values: object, version: number): StoredObject => ({
  id,
  ...values,
  internal: { latestVersion: version },
});

function open(object: StoredObject): ObjectEditor {
  const type = { name: 'post', workflowId: null } as unknown as ContentType;
  const opened = { object, etag: '"1"', objectKey: 'a', deleted: false, found: null, copyTag: null };
  const events = { saved: vi.fn(), created: vi.fn(), updated: vi.fn(), detached: vi.fn() };
  return new ObjectEditor(type, opened, 'tab', events);
}

it('does not show an older state that arrives after saving', async () => {
  const object = stored('a', { title: 'old' }, 1);
  const editor = open(object);
  const remoteChanges = { by: [], version: 1, names: [], converted: false };
  const respond = (newerVersion: NewerVersion) => requests.pending.shift()?.(newerVersion);

  const refreshed = editor.refresh();
  await Promise.resolve();
  editor.formState.set('title', 'new');
  expect(await editor.save()).toBe(true);
  respond({ object, etag: '"0"', remoteChanges });
  await vi.waitFor(() => expect(requests.pending).toHaveLength(1));
  respond({ object: stored('a', { title: 'new' }, 2), etag: '"2"', remoteChanges });
  await refreshed;
  expect(editor.formState.mine).toEqual({ title: 'new' });
  expect(editor.formState.base?.etag).toBe('"2"');
});

it('saves what is typed after a save whose response was lost, without a conflict', async () => {
  const editor = open(stored('a', { title: 'old' }, 1));
  requests.refusals.push(0, 412);
  editor.formState.set('title', 'sent');
  const saved = editor.save();
  await vi.waitFor(() => expect(editor.state).toBe('waiting'));
  editor.formState.set('title', 'typed later');
  editor.retryNow();
  await vi.waitFor(() => expect(requests.pending).toHaveLength(1));
  const remoteChanges = { by: ['Ada'], version: 2, names: ['title'], converted: false };
  requests.pending.shift()?.({ object: stored('a', { title: 'sent' }, 2), etag: '"1b"', remoteChanges });
  expect(await saved).toBe(true);
  expect(editor.mergeConflict).toBeNull();
  expect(editor.lastMerge).toBeNull();
  expect(editor.formState.base?.values).toEqual({ title: 'typed later' });
});

it('does not save or publish while a file for the form is being uploaded', async () => {
  const editor = open(stored('a', { title: 'old' }, 1));
  const publishing = publishingOf(editor);
  const finish = editor.formState.uploads.add({ running: 1, cancelAll: () => undefined });
  // This also holds without other changes: the file would be missing in what readers see.
  expect(await publishing.run('publish')).toBe(false);
  expect(publishing.problem?.message).toBe(t.publishing.uploading);
  editor.formState.set('title', 'new');
  expect(await editor.save()).toBe(false);
  expect(editor.formState.isChanged).toBe(true);
  finish();
  expect(publishing.isUploading).toBe(false);
  expect(await editor.save()).toBe(true);
});
