// Requests of actions on several objects: the preview, batches of selected rows, a job for all that match,
// and what undoes them. Knows the API, no component.
import { answer, api, type Answer, type Schema } from '../../../api/client';
import type { FieldErrors, Problem } from '../../../api/problem';
import { session } from '../../../session/session.svelte';
import { record, records } from '../../../type/definition';
import { queryFor } from '../../../value/search-text';
import { uuid } from '../../../value/uuid';

export type Preview = Schema['BulkPreview'];
export type Job = Schema['BulkJob'];

/** What to do, with what the action needs. */
export interface Plan {
  kind: 'publish' | 'unpublish' | 'archive' | 'delete' | 'patch' | 'transition';
  patch?: Record<string, unknown>;
  transition?: string;
}

/** Selected rows (titles by id), or everything that a list matches. */
export type Target =
  | { kind: 'rows'; rows: ReadonlyMap<string, string> }
  | { kind: 'match'; words: string; filters: Record<string, unknown> };

export interface Refusal {
  id: string;
  errors: FieldErrors;
}

function selector(target: Target): { filters?: Record<string, unknown>; q?: string; all?: boolean } {
  if (target.kind === 'rows') {
    return { filters: { id: { type: 'equals', filter: [...target.rows.keys()] } } };
  }
  const hasFilters = Object.keys(target.filters).length > 0;
  if (!hasFilters && target.words === '') return { all: true };
  return {
    ...(hasFilters && { filters: target.filters }),
    ...(target.words !== '' && { q: queryFor(target.words) }),
  };
}

export function bodyFor(plan: Plan, target: Target) {
  return {
    action: plan.kind,
    ...selector(target),
    ...(plan.patch && { patch: plan.patch }),
    ...(plan.transition !== undefined && { transition: plan.transition }),
  };
}

/** Counts and samples what would be changed. */
export async function preview(
  type: string,
  body: ReturnType<typeof bodyFor>,
  signal: AbortSignal,
): Promise<Answer<Preview>> {
  const result = await answer(
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

/** Starts the job; returns its id. */
export async function startJob(
  type: string,
  body: ReturnType<typeof bodyFor>,
  expect: number,
): Promise<Answer<string>> {
  const result = await answer(
    api.POST('/api/v1/content/{contentType}/bulk', {
      params: { path: { contentType: type } },
      headers: { 'Idempotency-Key': uuid() },
      body: { ...body, expect },
    }),
  );
  if ('problem' in result) return result;
  return { data: 'id' in result.data ? result.data.id : '', etag: null };
}

export function readJob(id: string): Promise<Answer<Job>> {
  return answer(api.GET('/api/v1/job/{id}', { params: { path: { id } } }));
}

export async function stopJob(id: string): Promise<void> {
  await answer(api.POST('/api/v1/job/{id}/stop', { params: { path: { id } } }));
}

/** The result of one batch: what was refused, or why the whole batch was. */
export type BatchResult = { refused: Refusal[] } | { problem: Problem };

/** Runs one batch of selected rows. */
export async function runBatch(type: string, plan: Plan, ids: string[]): Promise<BatchResult> {
  const params = { path: { contentType: type } };
  switch (plan.kind) {
    case 'publish':
      return done(
        await answer(api.POST('/api/v1/content/{contentType}/batch-publish', { params, body: ids })),
      );
    case 'unpublish':
      return done(
        await answer(api.POST('/api/v1/content/{contentType}/batch-unpublish', { params, body: ids })),
      );
    case 'archive':
      return done(
        await answer(api.POST('/api/v1/content/{contentType}/batch-archive', { params, body: ids })),
      );
    case 'delete': {
      const result = await answer(
        api.POST('/api/v1/content/{contentType}/batch-delete', { params, body: ids }),
      );
      return 'problem' in result ? deleteRefusals(result.problem, ids) : { refused: [] };
    }
    default:
      return patchBatch(
        type,
        ids.map((id) => ({ ...plan.patch, id })),
      );
  }
}

/** Patches each object with its own values. */
export async function patchBatch(type: string, body: Record<string, unknown>[]): Promise<BatchResult> {
  const result = await answer(
    api.PATCH('/api/v1/content/{contentType}/batch', { params: { path: { contentType: type } }, body }),
  );
  if (!('problem' in result)) return { refused: [] };
  const refused = records(result.problem.data).map((item) => ({
    id: String(item.id),
    errors: errorsOf(item.errors),
  }));
  return refused.length > 0 ? { refused } : result;
}

function done(result: Answer<unknown>): BatchResult {
  return 'problem' in result ? result : { refused: [] };
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
export function deleteRefusals(problem: Problem, ids: string[]): BatchResult {
  const messages = problem.fields.errors ?? [];
  const refused = messages.flatMap((message) => {
    const id = ids.find((item) => message.startsWith(`Content object: "${item}"`));
    return id === undefined ? [] : [{ id, errors: { '': [message] } }];
  });
  return refused.length > 0 ? { refused } : { problem };
}

/** Which of the ids are live objects. */
export async function existing(type: string, ids: string[]): Promise<Answer<Set<string>>> {
  const result = await answer(
    api.GET('/api/v1/content/{contentType}', {
      params: { path: { contentType: type }, query: { limit: 1000, 'fields[]': ['id'], 'ids[]': ids } },
    }),
  );
  if ('problem' in result) return result;
  return { data: new Set(result.data.data.map(({ id }) => id)), etag: null };
}

/** Values of properties before they are changed, by id. */
export async function valuesBefore(
  type: string,
  ids: string[],
  names: string[],
): Promise<Answer<Map<string, Record<string, unknown>>>> {
  const before = new Map<string, Record<string, unknown>>();
  for (let at = 0; at < ids.length; at += 200) {
    const query = { limit: 1000, 'fields[]': names, 'ids[]': ids.slice(at, at + 200) };
    const result = await answer(
      api.GET('/api/v1/content/{contentType}', { params: { path: { contentType: type }, query } }),
    );
    if ('problem' in result) return result;
    for (const { id, internal: _internal, ...values } of result.data.data) before.set(id, values);
  }
  return { data: before, etag: null };
}

/** Takes a property away from an object that did not have it. */
export async function removeProperties(type: string, id: string, names: string[]): Promise<Problem | null> {
  const params = { path: { contentType: type, id } };
  const read = await answer(api.GET('/api/v1/content/{contentType}/{id}', { params }));
  if ('problem' in read) return read.problem;
  const { internal: _internal, ...values } = read.data;
  const body = Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  const result = await answer(
    api.PUT('/api/v1/content/{contentType}/{id}', {
      params,
      headers: { 'If-Match': read.etag ?? '*' },
      body: { ...body, id },
    }),
  );
  return 'problem' in result ? result.problem : null;
}

/** Restores objects that this user has just deleted; returns how many, and what failed first. */
export async function restoreDeleted(
  type: string,
  ids: string[],
): Promise<{ restored: number; problem: Problem | null }> {
  const waiting = new Set(ids);
  const by = session.context?.by.id;
  let restored = 0;
  let first: Problem | null = null;
  for (let page = 1; waiting.size > 0 && page <= 20; page += 1) {
    const found = await answer(
      api.GET('/api/v1/trash', {
        params: { query: { page: 1, limit: 1000, 'content_type[]': [type], ...(by && { by }) } },
      }),
    );
    if ('problem' in found) return { restored, problem: found.problem };
    // The oldest of them first, so that what objects link to is there again before them.
    const entries = found.data.data.filter(({ id }) => waiting.has(id)).reverse();
    if (entries.length === 0) break;
    for (const { entry, id } of entries) {
      if (!waiting.delete(id)) continue;
      const result = await answer(api.POST('/api/v1/trash/{entry}/restore', { params: { path: { entry } } }));
      if ('problem' in result) first ??= result.problem;
      else restored += 1;
    }
  }
  return { restored, problem: first };
}
