// Reading and saving one object. Knows requests, no form.
import { answer, api, type Answer, type Schema } from '../api/client';
import type { Base, Values } from './draft.svelte';

export type StoredObject = Schema['ContentObject'];

export async function readObject(
  type: string,
  id: string,
  signal?: AbortSignal,
): Promise<Answer<StoredObject>> {
  const path = { contentType: type, id };
  return answer(
    api.GET('/api/v1/content/{contentType}/{id}', { params: { path }, ...(signal && { signal }) }),
  );
}

/** Creates an object. The key makes a repeated request return the response of the first. */
export async function createObject(type: string, values: Values, key: string): Promise<Answer<StoredObject>> {
  return answer(
    api.POST('/api/v1/content/{contentType}', {
      params: { path: { contentType: type } },
      headers: { 'Idempotency-Key': key },
      body: values,
    }),
  );
}

/** Replaces an object, if it still is in the state of `etag`. */
export async function updateObject(
  type: string,
  id: string,
  values: Values,
  etag: string,
): Promise<Answer<StoredObject>> {
  return answer(
    api.PUT('/api/v1/content/{contentType}/{id}', {
      params: { path: { contentType: type, id } },
      headers: { 'If-Match': etag },
      body: { id, ...values },
    }),
  );
}

/** The base of a form: the values of an object without what the server adds. */
export function baseOf(object: StoredObject, etag: string | null): Base {
  const { id: _id, internal, ...values } = object;
  return { values, etag, version: typeof internal?.latestVersion === 'number' ? internal.latestVersion : 0 };
}
