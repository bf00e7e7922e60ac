// Reading and saving one object. Knows requests, no form.
import { sendExact, sendRequest, api, type ApiResult, type Schema } from '../api/client';
import { copySourceTexts, exactText, recordMemberText } from '../value/exact-json';
import type { Problem } from '../api/problem';
import type { Base, Values } from './form-state.svelte';
import type { SaveRequest } from './save-queue';

export type StoredObject = Schema['ContentObject'];

/** Everything of an object, and who created and changed it last. */
const FIELDS_WITH_AUTHORS = ['*', 'internal.createdBy', 'internal.updatedBy'];

export async function readObject(
  type: string,
  id: string,
  signal?: AbortSignal,
): Promise<ApiResult<StoredObject>> {
  const params = { path: { contentType: type, id }, query: { 'fields[]': FIELDS_WITH_AUTHORS } };
  const options = { params, parseAs: 'text' as const, ...(signal && { signal }) };
  const result = await sendExact<StoredObject>(api.GET('/api/v1/content/{contentType}/{id}', options));
  return withStateEtag(result);
}

/**
 * The `ETag` of a response begins with that of the object's state; the rest names the chosen parts and the
 * compression. Without that rest, two responses about the same state have the same tag.
 */
export function withStateEtag<T>(result: ApiResult<T>): ApiResult<T> {
  if ('problem' in result) return result;
  return { ...result, etag: result.etag && stateEtag(result.etag) };
}

export function stateEtag(etag: string): string {
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

/**
 * Replaces an object, if it still is in the state of `etag`. Values that are equal to those of a source are sent as they
 * were read.
 */
export async function updateObject(
  type: string,
  id: string,
  values: Values,
  etag: string,
  sources: Values[] = [values],
): Promise<ApiResult<StoredObject>> {
  const result = await sendExact<StoredObject>(
    api.PUT('/api/v1/content/{contentType}/{id}', {
      parseAs: 'text',
      bodySerializer: (body) => exactText(body, sources),
      params: { path: { contentType: type, id } },
      headers: { 'If-Match': etag },
      body: { id, ...values },
    }),
  );
  return withStateEtag(result);
}

/**
 * Sends one write of the save queue. The key of a new object makes a repeated request return the response of the first.
 */
export async function sendSave(
  type: string,
  write: SaveRequest,
  sources: Values[],
): Promise<ApiResult<StoredObject>> {
  if (write.kind === 'update') return updateObject(type, write.id, write.values, write.etag, sources);
  const result = await sendExact<StoredObject>(
    api.POST('/api/v1/content/{contentType}', {
      parseAs: 'text',
      bodySerializer: (body) => exactText(body, sources),
      params: { path: { contentType: type } },
      headers: { 'Idempotency-Key': write.key },
      body: write.values,
    }),
  );
  return withStateEtag(result);
}

/** The base of a form: the values of an object without what the server adds. */
export function baseOf(object: StoredObject, etag: string | null): Base {
  const { id: _id, internal, ...values } = object;
  copySourceTexts(object, values);
  return { values, etag, version: typeof internal?.latestVersion === 'number' ? internal.latestVersion : 0 };
}

/** Checks a write without writing: null when it would be accepted. */
export async function validate(
  type: string,
  id: string | null,
  values: Values,
  sources: Values[],
): Promise<Problem | null> {
  const result = await sendRequest<undefined>(
    api.POST('/api/v1/content/{contentType}/validate', {
      params: { path: { contentType: type }, query: id === null ? {} : { id } },
      bodySerializer: (body) => exactText(body, sources),
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
  const found = await findDeletion(type, id);
  return 'problem' in found ? null : found.data;
}

/** The last deletion of an object; null if the trash does not have it. */
export async function findDeletion(type: string, id: string): Promise<ApiResult<Deletion | null>> {
  const isOfId = (item: Schema['TrashItem']) => item.id.toLowerCase() === id.toLowerCase();
  for (let page = 1; ; page += 1) {
    // The newest come first. `q` also finds other objects: with the id as a part of theirs, or of their titles.
    const result = await sendRequest(
      api.GET('/api/v1/trash', { params: { query: { 'content_type[]': [type], q: id, limit: 1000, page } } }),
    );
    if ('problem' in result) return result;
    const item = result.data.data.find(isOfId);
    if (item) return { data: { entry: item.entry, by: item.by.name, at: item.deletedAt }, etag: null };
    if (page >= result.data.total_pages) return { data: null, etag: null };
  }
}

/** An entry of the trash with the deleted object. */
export type TrashEntry = Schema['TrashItem'] & { object: StoredObject };

export async function readTrashEntry(entry: string, signal?: AbortSignal): Promise<ApiResult<TrashEntry>> {
  const options = { params: { path: { entry } }, parseAs: 'text' as const, ...(signal && { signal }) };
  const result = await sendExact<TrashEntry>(api.GET('/api/v1/trash/{entry}', options));
  if ('data' in result) recordMemberText(result.data, 'object', result.data.object);
  return result;
}

/** What a restored object has instead of its state at the deletion. */
export interface Restoration {
  id?: string;
  data?: Values;
  /** Without its published version. */
  draft?: boolean;
}

function restorationText({ data, ...others }: Restoration, sources: Values[]): string {
  const members = Object.entries(others).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  if (data) members.push(`"data":${exactText(data, sources)}`);
  return `{${members.join(',')}}`;
}

/**
 * Restores a deleted object; null when that succeeded. Values that are equal to those of a source are sent as they
 * were read.
 */
export async function restoreObject(
  entry: string,
  restoration: Restoration = {},
  sources: Values[] = [],
): Promise<Problem | null> {
  const result = await sendRequest(
    api.POST('/api/v1/trash/{entry}/restore', {
      params: { path: { entry } },
      bodySerializer: () => restorationText(restoration, sources),
      body: restoration,
    }),
  );
  return 'problem' in result ? result.problem : null;
}
