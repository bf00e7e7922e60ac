// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { noteFirstRequest, sendFirstRequests, storeFirstRequests, takeFirstResponse } from './first-requests';

const SESSION = '/api/v1/session';
const request = (path: string, init?: RequestInit) => new Request(`http://127.0.0.1${path}`, init);
const fetched = vi.fn((path: string) => Promise.resolve(new Response(path)));

beforeEach(() => {
  localStorage.clear();
  fetched.mockClear();
  vi.stubGlobal('fetch', fetched);
  storeFirstRequests(false);
});
afterEach(() => vi.unstubAllGlobals());

it('a browser that was never signed in sends nothing early', async () => {
  expect(sendFirstRequests()).toBe(false);
  expect(fetched).not.toHaveBeenCalled();
  expect(await takeFirstResponse(request(SESSION))).toBeNull();
});

it('a load sends the requests that the previous load needed, and each response is used once', async () => {
  noteFirstRequest(SESSION);
  storeFirstRequests(true);
  expect(sendFirstRequests()).toBe(true);
  expect(await takeFirstResponse(request(SESSION, { method: 'DELETE' }))).toBeNull();
  expect(await (await takeFirstResponse(request(SESSION)))?.text()).toBe(SESSION);
  expect(await takeFirstResponse(request(SESSION))).toBeNull();
});

it('responses of an ended session are not used after the next sign-in', async () => {
  noteFirstRequest(SESSION);
  storeFirstRequests(true);
  sendFirstRequests();
  storeFirstRequests(false);
  expect(await takeFirstResponse(request(SESSION))).toBeNull();
  expect(sendFirstRequests()).toBe(false);
});
