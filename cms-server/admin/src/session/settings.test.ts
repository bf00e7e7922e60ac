// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { networkProblem, type Problem } from '../api/problem';
import type { Settings } from './settings.svelte';

/** A server with the settings of one user; `failures` are the responses to the next writes. */
const server = vi.hoisted(() => ({
  settings: {} as Record<string, unknown>,
  tag: 0,
  failures: [] as ('lost' | 'lostResponse')[],
  writes: 0,
}));

vi.mock('../api/client', () => ({
  sendRequest: (request: unknown) => request,
  api: {
    GET: () => Promise.resolve({ data: structuredClone(server.settings), etag: String(server.tag) }),
    PUT: async (_path: string, options: { params?: { header: { 'If-Match': string } }; body: Settings }) => {
      await new Promise((done) => setTimeout(done, 20));
      const failure = server.failures.shift();
      if (failure === 'lost') return { problem: networkProblem() };
      const tag = options.params?.header['If-Match'];
      if (tag !== undefined && tag !== String(server.tag))
        return { problem: { ...networkProblem(), status: 412 } };
      server.settings = structuredClone(options.body);
      server.tag += 1;
      server.writes += 1;
      if (failure === 'lostResponse') return { problem: networkProblem() };
      return { data: options.body, etag: String(server.tag) };
    },
  },
}));

const load = () => import('./settings.svelte');
let settings: Awaited<ReturnType<typeof load>>;
const set = (area: string, values: Settings): Promise<Problem | null> =>
  settings.changeSettings(area, (old) => ({ ...old, ...values }));

/** Another tab stores settings. */
function changeElsewhere(values: Settings): void {
  server.settings = { ...server.settings, ...values };
  server.tag += 1;
}

beforeEach(async () => {
  Object.assign(server, { settings: {}, tag: 0, failures: [], writes: 0 });
  localStorage.clear();
  vi.resetModules();
  settings = await load();
});

describe('settings', () => {
  it('show a change immediately, and no longer if it could not be stored', async () => {
    await set('page', { a: 1 });
    server.failures = ['lost'];
    const changed = set('page', { a: 2 });
    await vi.waitFor(() => expect(settings.settings.area('page')).toEqual({ a: 2 }), { interval: 1 });
    expect(await changed).toMatchObject({ status: 0 });
    expect(settings.settings.area('page')).toEqual({ a: 1 });
  });

  it('store a change without an earlier one that failed, although both were made at once', async () => {
    server.failures = ['lost'];
    const [first, second] = await Promise.all([set('page', { a: 1 }), set('lists', { b: 2 })]);
    expect([first?.status, second]).toEqual([0, null]);
    expect(server.settings).toEqual({ lists: { b: 2 } });
    expect(settings.settings.all).toEqual({ lists: { b: 2 } });
  });

  it('store changes that are made at once, one after the other', async () => {
    await Promise.all([set('page', { a: 1 }), set('page', { b: 2 }), set('lists', { c: 3 })]);
    expect(server.settings).toEqual({ page: { a: 1, b: 2 }, lists: { c: 3 } });
    expect(server.writes).toBe(3);
    expect(settings.settings.all).toEqual(server.settings);
  });

  it('are changed from what another tab has stored meanwhile', async () => {
    await set('page', { a: 1 });
    changeElsewhere({ page: { a: 1, other: true } });
    expect(await set('page', { a: 2 })).toBeNull();
    expect(server.settings).toEqual({ page: { a: 2, other: true } });
  });
});

describe('preferences', () => {
  it('that another tab has changed are kept', async () => {
    const { changePreferences, preferences } = await import('./preferences.svelte');
    await changePreferences({ theme: 'dark' });
    localStorage.setItem(
      'cms.preferences',
      JSON.stringify({ theme: 'dark', density: 'compact', shortcuts: false }),
    );
    changeElsewhere({ page: { theme: 'dark', density: 'compact', shortcuts: false } });
    await changePreferences({ theme: 'light' });
    expect(server.settings.page).toEqual({ theme: 'light', density: 'compact', shortcuts: false });
    expect([preferences.density, preferences.shortcuts]).toEqual(['compact', false]);
    expect(JSON.parse(localStorage.getItem('cms.preferences') ?? '')).toEqual(server.settings.page);
  });
});

describe('a saved view', () => {
  const view = { id: 'v1', name: 'Cheap', definition: { q: 'tea' }, share: false };

  it('is stored once, although the response of the first attempt was lost', async () => {
    const { addView } = await import('../screen/list/add-view');
    const { ownListSettings } = await import('../screen/list/views.svelte');
    server.failures = ['lostResponse'];
    expect(await addView('product', { ...view, repeated: false })).toMatchObject({ problem: { status: 0 } });
    expect(ownListSettings('product').views).toEqual([]);
    expect(await addView('product', { ...view, repeated: true })).toEqual({ id: 'v1' });
    expect(ownListSettings('product').views.map(({ name }) => name)).toEqual(['Cheap']);
    expect(server.settings).toMatchObject({ lists: { product: { views: [{ id: 'v1' }] } } });
  });

  it('stays when another tab has changed the columns meanwhile', async () => {
    const { addView } = await import('../screen/list/add-view');
    const { ownListSettings } = await import('../screen/list/views.svelte');
    await addView('product', { ...view, repeated: false });
    changeElsewhere({ lists: { product: { views: [], columns: ['price'] } } });
    await addView('product', { ...view, id: 'v2', repeated: false });
    expect(ownListSettings('product')).toMatchObject({ views: [{ id: 'v2' }], columns: ['price'] });
  });
});
