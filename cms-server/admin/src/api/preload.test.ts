// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { notePreload, sendPreloads, storePreloads, takePreloaded } from './preload';

const SESSION = '/api/v1/session';
const request = (path: string, init?: RequestInit) => new Request(`http://127.0.0.1${path}`, init);
const fetched = vi.fn((path: string) => Promise.resolve(new Response(path)));

beforeEach(() => {
  localStorage.clear();
  fetched.mockClear();
  vi.stubGlobal('fetch', fetched);
  storePreloads(false);
});
afterEach(() => vi.unstubAllGlobals());

it('a browser that was never signed in sends nothing early', async () => {
  expect(sendPreloads()).toBe(false);
  expect(fetched).not.toHaveBeenCalled();
  expect(await takePreloaded(request(SESSION))).toBeNull();
});

it('a load sends the requests that the previous load needed, and each response is used once', async () => {
  notePreload(SESSION);
  storePreloads(true);
  expect(sendPreloads()).toBe(true);
  expect(await takePreloaded(request(SESSION, { method: 'DELETE' }))).toBeNull();
  expect(await (await takePreloaded(request(SESSION)))?.text()).toBe(SESSION);
  expect(await takePreloaded(request(SESSION))).toBeNull();
});

it('responses of an ended session are not used after the next sign-in', async () => {
  notePreload(SESSION);
  storePreloads(true);
  sendPreloads();
  storePreloads(false);
  expect(await takePreloaded(request(SESSION))).toBeNull();
  expect(sendPreloads()).toBe(false);
});
