// Changing properties of a file in the library. Knows requests, no form.
import { answer, api, type Answer } from '../api/client';
import { MEDIA, type Summary, summaryOf } from './summary';

/** Changes properties of a file, if it still is in the state of `etag`; without a tag, in its current state. */
export async function changeFile(
  id: string,
  changes: Record<string, unknown>,
  etag: string | null,
): Promise<Answer<Summary>> {
  const path = { contentType: MEDIA, id };
  const result = await answer<Record<string, unknown>>(
    api.PATCH('/api/v1/content/{contentType}/{id}', {
      params: { path },
      ...(etag !== null && { headers: { 'If-Match': etag } }),
      body: changes,
    }),
  );
  if ('problem' in result) return result;
  return { data: summaryOf(MEDIA, result.data), etag: result.etag };
}
