// The HTTP client: types come from api.json, the OpenAPI document of the server. Knows HTTP; no Svelte,
// no screen. Every request carries the header that protects against cross-site requests, and reads drafts as well as
// published content.
import createClient from 'openapi-fetch';
import { t } from '../text';
import { syncClock } from '../value/clock';
import { recordSourceText } from '../value/exact-json';
import { parsedJson } from '../value/json';
import { isRecord } from '../value/record';
import { PAGE_HEADERS, takePreloaded } from './preload';
import { networkProblem, ProblemError, problemOf, type Problem } from './problem';
import type { components, paths } from './schema';
import { logRequest } from './request-log';

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
export type ApiResult<T> = { data: T; etag: string | null } | { problem: Problem };

/** Waits until the same user has signed in again; true when the refused request is to be sent again. */
export type Reauthenticate = () => Promise<boolean>;
let reauthentication: Reauthenticate = () => Promise.resolve(false);

/** Sets what happens when a request was refused because the session has ended. */
export function setReauthentication(handler: Reauthenticate): void {
  reauthentication = handler;
}

/** Waits for a new sign-in after a 401; true when the request may be sent again. */
export function reauthenticate(): Promise<boolean> {
  return reauthentication();
}

const USER_HEADER = 'X-CMS-User';
let userId: string | null = null;

/** Sets in whose name requests are sent: the server refuses them with 401 when another tab has signed in another user. */
export function setUser(id: string | null): void {
  userId = id;
}

/** Headers of requests that are not sent by `api`. */
export function userHeaders(): Record<string, string> {
  return { ...PAGE_HEADERS, ...(userId !== null && { [USER_HEADER]: userId }) };
}

/** The paths of sign-in: a 401 there means a wrong password or code, not an ended session. */
const SESSION_PATH = /^\/api\/v1\/session(\/code)?$/;
const isSession = (request: Request) => SESSION_PATH.test(new URL(request.url).pathname);

/** Sends a request, and sends it again after a new sign-in when the session has ended. */
async function fetchWithSession(request: Request): Promise<Response> {
  const repeated = request.clone();
  const done = logRequest(request);
  const response = (await takePreloaded(request)) ?? (await fetch(request));
  done(response.status);
  // Responses to other GET requests may come from a cache, with an old `Date`.
  if (request.method !== 'GET' || isSession(request)) syncClock(response.headers.get('date'));
  if (response.status !== 401 || isSession(request)) return response;
  return (await reauthentication()) && !request.signal.aborted ? fetchWithSession(repeated) : response;
}

export const api = createClient<paths>({
  baseUrl: '/',
  headers: PAGE_HEADERS,
  credentials: 'same-origin',
  fetch: fetchWithSession,
});

api.use({
  onRequest({ request }) {
    // Requests that create or read the session do not name the user: if another user has signed in, the page is loaded
    // again.
    const createsOrReads = isSession(request) && request.method !== 'DELETE';
    if (userId !== null && !createsOrReads) request.headers.set(USER_HEADER, userId);
  },
});

api.use({
  /** Refuses the ids `.` and `..`: the browser resolves such segments, so the request would go to another path. */
  onRequest({ params }) {
    const segments = Object.values(params.path ?? {});
    if (!segments.some((segment) => segment === '.' || segment === '..')) return undefined;
    return Response.json({ code: 400, message: t.common.dotId }, { status: 400 });
  },
});

export interface Fetched<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Waits for a request of `api`. Never rejects, except when the request was aborted. */
export async function sendRequest<T>(request: Promise<Fetched<T>>): Promise<ApiResult<T>> {
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
  return { problem: problemOf(response, error) };
}

/**
 * As `sendRequest`, for a request with `parseAs: 'text'`. Keeps the original text of each value, so that unchanged
 * values are written exactly as they were read.
 */
export async function sendExact<T extends object>(request: Promise<Fetched<string>>): Promise<ApiResult<T>> {
  const result = await sendRequest(request);
  if ('problem' in result) return result;
  const data = parsedJson(result.data);
  // Not a response of the server: for example the page of a captive portal, with status 200.
  if (!isRecord(data)) return { problem: networkProblem() };
  recordSourceText(data, result.data);
  return { ...result, data: data as T };
}

/** As `sendRequest`, for callers that expect a rejected promise. */
export async function sendOrThrow<T>(request: Promise<Fetched<T>>): Promise<T> {
  return dataOrThrow(await sendRequest(request));
}

export function dataOrThrow<T>(result: { data: T } | { problem: Problem }): T {
  if ('problem' in result) throw new ProblemError(result.problem);
  return result.data;
}
