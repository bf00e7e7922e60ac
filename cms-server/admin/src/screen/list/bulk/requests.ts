// Requests of actions on several objects: the preview, batches of selected rows, a job for all that match.
// Knows the API, no component.
import { sendRequest, api, type ApiResult, type Schema } from '../../../api/client';
import { isRetryable, type FieldErrors, type Problem } from '../../../api/problem';
import { IDS_PER_REQUEST } from '../../../object/links';
import type { Action } from '../../../object/publish-rules';
import { MAX_HITS } from '../../../object/search-objects';
import { record, records } from '../../../type/definition';
import { exactText } from '../../../value/exact-json';
import { partsOf } from '../../../value/list';
import { queryFor } from '../../../value/search-text';

export type Preview = Schema['BulkPreview'];
export type Job = Schema['BulkJob'];

/** An action with its parameters. */
export interface BulkChange {
  kind: 'publish' | 'unpublish' | 'archive' | 'delete' | 'patch' | 'transition';
  patch?: Record<string, unknown>;
  /** Texts to replace by other texts, instead of a patch. */
  replace?: Replacement[];
  transition?: string;
}

export interface Replacement {
  path: string;
  from: string;
  to: string;
}

/** Selected rows (titles by id), or everything that a list matches. */
export type BulkSelection =
  | { kind: 'rows'; rows: ReadonlyMap<string, string> }
  | {
      kind: 'match';
      words: string;
      filters: Record<string, unknown>;
      /** Number of objects that the list shows. */
      total: number;
    };

export interface Refusal {
  id: string;
  errors: FieldErrors;
}

export interface Body {
  action: BulkChange['kind'];
  filters?: Record<string, unknown>;
  q?: string;
  all?: boolean;
  patch?: Record<string, unknown>;
  replace?: Replacement[];
  transition?: string;
}

/** The request body: an action on all objects of a selection. */
export function bodyFor(change: BulkChange, selection: BulkSelection): Body {
  return {
    action: change.kind,
    ...(selection.kind === 'rows'
      ? selector('', { id: { type: 'equals', filter: [...selection.rows.keys()] } })
      : selector(selection.words, selection.filters)),
    ...(change.patch && { patch: change.patch }),
    ...(change.replace && { replace: change.replace }),
    ...(change.transition !== undefined && { transition: change.transition }),
  };
}

function selector(words: string, filters: Record<string, unknown>): Partial<Body> {
  const hasFilters = Object.keys(filters).length > 0;
  if (!hasFilters && words === '') return { all: true };
  return { ...(hasFilters && { filters }), ...(words !== '' && { q: queryFor(words) }) };
}

/**
 * Returns whether an action on everything that a list matches would change other objects than the list shows. With
 * words, the list is a search, which compares filters by words; the action compares complete values.
 */
export function differsFromList(selection: BulkSelection, matched: number): boolean {
  if (selection.kind === 'rows' || selection.words === '' || selection.total >= MAX_HITS) return false;
  return Object.keys(selection.filters).length > 0 && matched !== selection.total;
}

/** The same body for only the objects that the patch changes; null if no filter can find these. */
export function onlyChanging(body: Body): Body | null {
  const [patched, ...others] = Object.entries(body.patch ?? {});
  if (!patched || others.length > 0 || (typeof patched[1] === 'object' && patched[1] !== null)) return null;
  const [name, value] = patched;
  const { all: _all, filters, ...rest } = body;
  // Filters have one condition per path: a second one uses `$.`, another spelling of the same path.
  const path = filters && name in filters ? `$.${name}` : name;
  return { ...rest, filters: { ...filters, [path]: { type: 'notEqual', filter: value } } };
}

/** Counts and samples what would be changed. */
export async function preview(type: string, body: Body, signal: AbortSignal): Promise<ApiResult<Preview>> {
  const result = await sendRequest(
    api.POST('/api/v1/content/{contentType}/bulk', {
      params: { path: { contentType: type } },
      body: { ...body, dryRun: true },
      signal,
    }),
  );
  if ('problem' in result) return result;
  return 'matched' in result.data
    ? { data: result.data, etag: null }
    : { data: { matched: 0, sample: [] }, etag: null };
}

const MAX_ATTEMPTS = 3;
const RETRY_MS = 2000;

/** Sends a request that may be sent several times: again while no definite response arrives. */
export async function sendRepeatedly<T>(send: () => Promise<ApiResult<T>>): Promise<ApiResult<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await send();
    if (!('problem' in result) || !isRetryable(result.problem) || attempt === MAX_ATTEMPTS) return result;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Starts the job; returns its id. With the same key, the server starts it once. */
export async function startJob(
  type: string,
  body: Body,
  expect: number,
  key: string,
): Promise<ApiResult<string>> {
  const result = await sendRequest(
    api.POST('/api/v1/content/{contentType}/bulk', {
      params: { path: { contentType: type } },
      headers: { 'Idempotency-Key': key },
      body: { ...body, expect },
    }),
  );
  if ('problem' in result) return result;
  return { data: 'id' in result.data ? result.data.id : '', etag: null };
}

export function readJob(id: string): Promise<ApiResult<Job>> {
  return sendRequest(api.GET('/api/v1/job/{id}', { params: { path: { id } } }));
}

export async function stopJob(id: string): Promise<void> {
  await sendRequest(api.POST('/api/v1/job/{id}/stop', { params: { path: { id } } }));
}

/** The result of one batch: refused objects, or the reason why the complete batch was refused. */
export type BatchResult = { refused: Refusal[] } | { problem: Problem };

/** Runs one batch of selected rows. */
export async function runBatch(type: string, change: BulkChange, ids: string[]): Promise<BatchResult> {
  const params = { path: { contentType: type } };
  switch (change.kind) {
    case 'publish':
    case 'unpublish':
    case 'archive':
      return statusBatch(type, change.kind, ids);
    case 'delete': {
      const result = await sendRequest(
        api.POST('/api/v1/content/{contentType}/batch-delete', { params, body: ids }),
      );
      return 'problem' in result ? deleteRefusals(result.problem, ids) : { refused: [] };
    }
    default:
      return patchBatch(
        type,
        ids.map((id) => ({ ...change.patch, id })),
      );
  }
}

/** Runs a publishing action on objects, whatever their status is. */
export async function statusBatch(type: string, action: Action, ids: string[]): Promise<BatchResult> {
  const params = { path: { contentType: type } };
  const result = await sendRequest<unknown>(
    api.POST(`/api/v1/content/{contentType}/batch-${action}`, { params, body: ids }),
  );
  return 'problem' in result ? result : { refused: [] };
}

/** Patches each object with its own values; those that were read are sent as their original text. */
export async function patchBatch(type: string, body: Record<string, unknown>[]): Promise<BatchResult> {
  const result = await sendRequest(
    api.PATCH('/api/v1/content/{contentType}/batch', {
      params: { path: { contentType: type } },
      bodySerializer: (objects) => `[${objects.map((object) => exactText(object, [object])).join(',')}]`,
      body,
    }),
  );
  if (!('problem' in result)) return { refused: [] };
  const refused = records(result.problem.data).map((item) => ({
    id: String(item.id),
    errors: errorsOf(item.errors),
  }));
  return refused.length > 0 ? { refused } : result;
}

function errorsOf(value: unknown): FieldErrors {
  return Object.fromEntries(
    Object.entries(record(value)).map(([path, messages]) => [
      path,
      Array.isArray(messages) ? messages.map(String) : [String(messages)],
    ]),
  );
}

/** The batch deletion names refused objects in its messages: `Content object: "a" is used in …`. */
function deleteRefusals(problem: Problem, ids: string[]): BatchResult {
  const messages = problem.fields.errors ?? [];
  const refused = messages.flatMap((message) => {
    const id = ids.find((item) => message.startsWith(`Content object: "${item}"`));
    return id === undefined ? [] : [{ id, errors: { '': [message] } }];
  });
  return refused.length > 0 ? { refused } : { problem };
}

/** Those of the ids that are live objects. */
export async function readLiveIds(type: string, ids: string[]): Promise<ApiResult<Set<string>>> {
  const live = new Set<string>();
  for (const part of partsOf(ids, IDS_PER_REQUEST)) {
    const result = await sendRequest(
      api.GET('/api/v1/content/{contentType}', {
        params: { path: { contentType: type }, query: { limit: 1000, 'fields[]': ['id'], 'ids[]': part } },
      }),
    );
    if ('problem' in result) return result;
    for (const { id } of result.data.data) live.add(id);
  }
  return { data: live, etag: null };
}
