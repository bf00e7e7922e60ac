// The HTTP client: types come from api.json, the OpenAPI document of the server. Knows HTTP; no Svelte,
// no screen. Every request carries the header against cross-site requests, and reads current versions.
import createClient from 'openapi-fetch';
import { networkProblem, ProblemError, problemOf, type Problem } from './problem';
import type { components, paths } from './schema';

export type Schema = components['schemas'];

/** A list of the API. */
export interface Page<T> {
  total_count: number;
  count: number;
  current_page: number;
  total_pages: number;
  data: T[];
}

/** The result of a request. */
export type Answer<T> = { data: T; etag: string | null } | { problem: Problem };

type Listener = () => void;
const signedOut = new Set<Listener>();

/** Calls `listener` when a request was refused because the session has ended; returns how to stop. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

/** Headers of every request of the page. */
export const PAGE_HEADERS = { 'X-CMS-Request': '1', 'X-MODE': 'preview' } as const;

export const api = createClient<paths>({ baseUrl: '/', headers: PAGE_HEADERS, credentials: 'same-origin' });

interface Fetched<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Waits for a request of `api`. Never rejects, except when the request was aborted. */
export async function answer<T>(request: Promise<Fetched<T>>): Promise<Answer<T>> {
  let fetched: Fetched<T>;
  try {
    fetched = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return { problem: networkProblem() };
  }
  const { data, error, response } = fetched;
  if (response.ok) {
    // A 204 has no body: its type is `undefined` in the document.
    return { data: data as T, etag: response.headers.get('etag') };
  }
  if (response.status === 401) for (const listener of signedOut) listener();
  return { problem: problemOf(response, error) };
}

/** As `answer`, for callers that expect a rejected promise. */
export async function unwrap<T>(request: Promise<Fetched<T>>): Promise<T> {
  const result = await answer(request);
  if ('problem' in result) throw new ProblemError(result.problem);
  return result.data;
}
