// Working copies: unsaved work on the server, which only its writer can read. Knows requests, no form.
import { answer, api, PAGE_HEADERS, type Answer, type Schema } from '../api/client';
import type { Base, Values } from './draft.svelte';

export type WorkingCopy = Schema['WorkingCopy'];

/** Member of a copy that names the version it was made from; object ids and properties have no `~`. */
const VERSION = '~version';

/** Unsaved work as it is stored: the values, and what they were made from. */
export interface CopyContent {
  values: Values;
  base: Base | null;
}

function bodyOf({ values, base }: CopyContent): { base: string | null; data: Values } {
  return { base: base?.etag ?? null, data: base ? { ...values, [VERSION]: base.version } : values };
}

/** The values of a copy, and the number of the version that they were made from. */
export function contentOf(copy: WorkingCopy): { values: Values; version: number | null } {
  const { [VERSION]: version, ...values } = copy.data;
  return { values, version: typeof version === 'number' ? version : null };
}

export function readCopy(type: string, id: string): Promise<Answer<WorkingCopy>> {
  return answer(
    api.GET('/api/v1/content/{contentType}/{id}/working-copy', {
      params: { path: { contentType: type, id } },
    }),
  );
}

export function writeCopy(type: string, id: string, content: CopyContent): Promise<Answer<WorkingCopy>> {
  return answer(
    api.PUT('/api/v1/content/{contentType}/{id}/working-copy', {
      params: { path: { contentType: type, id } },
      body: bodyOf(content),
    }),
  );
}

/** Removes a copy; with `etag` only when it still is that one. */
export function removeCopy(type: string, id: string, etag: string | null): Promise<Answer<undefined>> {
  return answer<undefined>(
    api.DELETE('/api/v1/content/{contentType}/{id}/working-copy', {
      params: { path: { contentType: type, id } },
      ...(etag !== null && { headers: { 'If-Match': etag } }),
    }),
  );
}

/** Sends a copy while the page may be closed, at most 64 KiB; its `ETag`, if the page is there to read it. */
export async function sendCopyOnLeave(
  type: string,
  id: string,
  content: CopyContent,
): Promise<string | null> {
  const path = `/api/v1/content/${encodeURIComponent(type)}/${encodeURIComponent(id)}/working-copy`;
  try {
    const response = await fetch(path, {
      method: 'PUT',
      headers: { ...PAGE_HEADERS, 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(content)),
      keepalive: true,
    });
    return response.ok ? response.headers.get('etag') : null;
  } catch {
    return null;
  }
}

/** Unsaved new objects of a type, newest first. */
export async function newCopies(type: string): Promise<WorkingCopyItem[]> {
  const result = await answer(
    api.GET('/api/v1/working-copies', { params: { query: { 'content_type[]': [type], limit: 100 } } }),
  );
  if ('problem' in result) return [];
  return result.data.data.filter((item) => item.id.startsWith('~'));
}

export type WorkingCopyItem = Pick<WorkingCopy, 'contentType' | 'id' | 'savedAt'>;
