// Reading and saving one object. Knows requests, no form.
import { answer, api, type Answer, type Schema } from '../api/client';
import { record, string, strings } from '../type/definition';
import type { Problem } from '../api/problem';
import type { Base, Values } from './draft.svelte';
import type { Write } from './save-queue';

export type StoredObject = Schema['ContentObject'];

/** Everything of an object, and who created and changed it last. */
const WITH_AUTHORS = ['*', 'internal.createdBy', 'internal.updatedBy'];

export async function readObject(
  type: string,
  id: string,
  signal?: AbortSignal,
): Promise<Answer<StoredObject>> {
  const params = { path: { contentType: type, id }, query: { 'fields[]': WITH_AUTHORS } };
  const result = await answer(
    api.GET('/api/v1/content/{contentType}/{id}', { params, ...(signal && { signal }) }),
  );
  return withStateTag(result);
}

/**
 * The `ETag` of a response begins with that of the object's state; the rest names the chosen parts and the
 * compression. Two responses about the same state have the same tag then.
 */
export function withStateTag<T>(result: Answer<T>): Answer<T> {
  if ('problem' in result) return result;
  return { ...result, etag: result.etag && stateTag(result.etag) };
}

export function stateTag(etag: string): string {
  return etag.replace(/^(?:W\/)?"([^".-]+)[.-].*"$/, '"$1"');
}

/** A saved object with its authors, whom the response to a save does not name. */
export function withAuthors(
  saved: StoredObject,
  before: StoredObject | null,
  user: { id: string; username: string } | undefined,
): StoredObject {
  if (!user || !saved.internal) return saved;
  const me = { kind: 'user' as const, id: user.id, name: user.username };
  const createdBy = before?.internal?.createdBy ?? me;
  return { ...saved, internal: { ...saved.internal, createdBy, updatedBy: me } };
}

/** Creates an object. The key makes a repeated request return the response of the first. */
export async function createObject(type: string, values: Values, key: string): Promise<Answer<StoredObject>> {
  const result = await answer(
    api.POST('/api/v1/content/{contentType}', {
      params: { path: { contentType: type } },
      headers: { 'Idempotency-Key': key },
      body: values,
    }),
  );
  return withStateTag(result);
}

/** Replaces an object, if it still is in the state of `etag`. */
export async function updateObject(
  type: string,
  id: string,
  values: Values,
  etag: string,
): Promise<Answer<StoredObject>> {
  const result = await answer(
    api.PUT('/api/v1/content/{contentType}/{id}', {
      params: { path: { contentType: type, id } },
      headers: { 'If-Match': etag },
      body: { id, ...values },
    }),
  );
  return withStateTag(result);
}

/** Sends one write of the save queue. */
export function send(type: string, write: Write): Promise<Answer<StoredObject>> {
  return write.kind === 'create'
    ? createObject(type, write.values, write.key)
    : updateObject(type, write.id, write.values, write.etag);
}

/** The base of a form: the values of an object without what the server adds. */
export function baseOf(object: StoredObject, etag: string | null): Base {
  const { id: _id, internal, ...values } = object;
  return { values, etag, version: typeof internal?.latestVersion === 'number' ? internal.latestVersion : 0 };
}

/** One version of an object; null when it cannot be read. */
export async function readVersion(type: string, id: string, version: number): Promise<StoredObject | null> {
  const result = await answer(
    api.GET('/api/v1/content/{contentType}/{id}/version/{versionId}', {
      params: { path: { contentType: type, id, versionId: String(version) } },
    }),
  );
  return 'problem' in result ? null : result.data;
}

/** Who made which versions after `version`, newest first. */
export async function changesSince(type: string, id: string, version: number): Promise<MadeVersion[]> {
  const result = await answer(
    api.GET('/api/v1/content/{contentType}/{id}/version', {
      params: { path: { contentType: type, id }, query: { limit: 100, order_direction: 'desc' } },
    }),
  );
  if ('problem' in result) return [];
  // The document of the API does not declare `by` and `changed` of this path.
  return result.data.data.map(readMade).filter((made) => made.version > version);
}

function readMade(item: unknown): MadeVersion {
  const { version, by, changed } = record(item);
  return {
    version: typeof version === 'number' ? version : 0,
    by: string(record(by).name) ?? '',
    names: strings(changed),
  };
}

export interface MadeVersion {
  version: number;
  /** Name of who made it; may be empty. */
  by: string;
  /** Properties that it changed. */
  names: string[];
}

/** Checks a write without writing: null when it would be accepted. */
export async function validate(type: string, id: string | null, values: Values): Promise<Problem | null> {
  const result = await answer<undefined>(
    api.POST('/api/v1/content/{contentType}/validate', {
      params: { path: { contentType: type }, query: id === null ? {} : { id } },
      body: values,
    }),
  );
  return 'problem' in result ? result.problem : null;
}

/** Who deleted an object, and when. */
export interface Deletion {
  entry: string;
  by: string;
  at: string;
}

/** The last deletion of an object; null when the user may not see it. */
export async function readDeletion(type: string, id: string): Promise<Deletion | null> {
  const result = await answer(
    api.GET('/api/v1/trash', { params: { query: { 'content_type[]': [type], q: id, limit: 100 } } }),
  );
  if ('problem' in result) return null;
  const item = result.data.data.find((candidate) => candidate.id.toLowerCase() === id.toLowerCase());
  return item ? { entry: item.entry, by: item.by.name, at: item.deletedAt } : null;
}

/** Brings a deleted object back; null when that succeeded. */
export async function restoreObject(entry: string): Promise<Problem | null> {
  const result = await answer(
    api.POST('/api/v1/trash/{entry}/restore', { params: { path: { entry } }, body: {} }),
  );
  return 'problem' in result ? result.problem : null;
}
