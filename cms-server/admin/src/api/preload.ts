// Preloaded requests: those that each page load needs. The page sends them while the rest of its code is loading,
// and the client uses the responses when it makes the same requests. The previous page load has stored their paths;
// without a session there are none. This module is loaded first: it must not import the client, Svelte or a screen.
import { readLocal, writeLocal } from '../value/local-storage';

/** Headers of every request of the page. */
export const PAGE_HEADERS = { 'X-CMS-Request': '1', 'X-MODE': 'preview' } as const;

const STORAGE_KEY = 'cms.preload';
const API_PATH = '/api/v1/';
const sent = new Map<string, Promise<Response | null>>();
let paths: string[] = [];

/** Sends the requests that the previous page load stored; false if it stored none. */
export function sendPreloads(): boolean {
  const stored = (readLocal(STORAGE_KEY) ?? '').split('\n').filter((path) => path.startsWith(API_PATH));
  for (const path of stored) {
    const response = fetch(path, { headers: PAGE_HEADERS, credentials: 'same-origin' });
    sent.set(
      path,
      response.catch(() => null),
    );
  }
  return stored.length > 0;
}

/** The response to a request that was sent early; null if there is none. Each response is used only once. */
export async function takePreloaded(request: Request): Promise<Response | null> {
  if (request.method !== 'GET' || sent.size === 0) return null;
  const { pathname, search } = new URL(request.url);
  const response = sent.get(pathname + search);
  sent.delete(pathname + search);
  return (await response) ?? null;
}

/** Notes a request that each load needs. */
export function notePreload(path: string): void {
  if (!paths.includes(path)) paths.push(path);
}

/** Stores the noted requests for the next load; without a session the next load sends none. */
export function storePreloads(hasSession: boolean): void {
  sent.clear();
  if (!hasSession) paths = [];
  writeLocal(STORAGE_KEY, hasSession ? paths.join('\n') : null);
}
