// Working copies: unsaved work on the server, which only its writer can read. Knows requests, no form.
import { sendExact, sendRequest, api, userHeaders, type ApiResult, type Schema } from '../api/client';
import { exactText, memberText, recordSourceText } from '../value/exact-json';
import type { Base, Values } from './form-state.svelte';
import { stateEtag, withStateEtag } from './object-requests';

export type WorkingCopy = Schema['WorkingCopy'];

/** Members of a copy: the version that it was made from, and the UUID of the work. Names of properties have no `~`. */
const VERSION_KEY = '~version';
const WORK_KEY = '~work';

/** Unsaved work as it is stored: the values, and what they were made from. */
export interface CopyContent {
  values: Values;
  base: Base | null;
  /** A UUID that identifies the work among several on the same object. */
  workId?: string;
  /** Values as read from the server. A value that equals one of these is sent as its original text. */
  sources?: Values[];
}

function bodyOf({ values, base, workId }: CopyContent): { base: string | null; data: Values } {
  const data = {
    ...values,
    ...(base && { [VERSION_KEY]: base.version }),
    ...(workId && { [WORK_KEY]: workId }),
  };
  return { base: base?.etag ?? null, data };
}

function textOf(content: CopyContent): string {
  const { base, data } = bodyOf(content);
  return `{"base":${JSON.stringify(base)},"data":${exactText(data, content.sources ?? [])}}`;
}

/** The values of a copy, the number of the version that they were made from, and the UUID of the work. */
export function contentOf(copy: WorkingCopy): {
  values: Values;
  version: number | null;
  workId: string | null;
} {
  const { [VERSION_KEY]: version, [WORK_KEY]: workId, ...values } = copy.data;
  const text = memberText(copy, 'data');
  if (text !== undefined) recordSourceText(values, text);
  return {
    values,
    version: typeof version === 'number' ? version : null,
    workId: typeof workId === 'string' ? workId : null,
  };
}

export async function readCopy(type: string, id: string): Promise<ApiResult<WorkingCopy>> {
  const params = { path: { contentType: type, id } };
  return withStateEtag(
    await sendExact<WorkingCopy>(
      api.GET('/api/v1/content/{contentType}/{id}/working-copy', { params, parseAs: 'text' }),
    ),
  );
}

/** Replaces the copy if it still has this `etag`; without one, replaces whatever copy is stored. */
export async function writeCopy(
  type: string,
  id: string,
  content: CopyContent,
  etag: string | null,
): Promise<ApiResult<WorkingCopy>> {
  const params = { path: { contentType: type, id }, ...(etag !== null && { header: { 'If-Match': etag } }) };
  return withStateEtag(
    await sendRequest(
      api.PUT('/api/v1/content/{contentType}/{id}/working-copy', {
        params,
        body: bodyOf(content),
        bodySerializer: () => textOf(content),
      }),
    ),
  );
}

/** Removes the copy if it still has this `etag`. */
export function removeCopy(type: string, id: string, etag: string): Promise<ApiResult<undefined>> {
  const params = { path: { contentType: type, id }, header: { 'If-Match': etag } };
  return sendRequest<undefined>(api.DELETE('/api/v1/content/{contentType}/{id}/working-copy', { params }));
}

/**
 * Sends a copy, even while the page is being closed: browsers then refuse more than 64 KiB. Returns the `ETag` of the
 * stored copy; null if the request failed.
 */
export async function sendCopyOnLeave(
  type: string,
  id: string,
  content: CopyContent,
  etag: string | null,
): Promise<string | null> {
  const path = `/api/v1/content/${encodeURIComponent(type)}/${encodeURIComponent(id)}/working-copy`;
  try {
    const response = await fetch(path, {
      method: 'PUT',
      headers: {
        ...userHeaders(),
        'Content-Type': 'application/json',
        ...(etag !== null && { 'If-Match': etag }),
      },
      body: textOf(content),
      keepalive: true,
    });
    const sent = response.headers.get('etag');
    return response.ok && sent !== null ? stateEtag(sent) : null;
  } catch {
    return null;
  }
}

/** Unsaved new objects of a type, newest first. */
export async function newCopies(type: string): Promise<WorkingCopyItem[]> {
  const result = await sendRequest(
    api.GET('/api/v1/working-copies', { params: { query: { 'content_type[]': [type], limit: 100 } } }),
  );
  if ('problem' in result) return [];
  return result.data.data.filter((item) => item.id.startsWith('~'));
}

export type WorkingCopyItem = Pick<WorkingCopy, 'contentType' | 'id' | 'savedAt'>;
