// Changes the alternative text of a file in the library. Knows requests, no form.
import { sendRequest, api, type ApiResult } from '../api/client';
import { readObject } from './object-requests';
import { MEDIA_TYPE, type Summary, summaryOf } from './summary';

/** A 412 means that somebody changed the file: it is read again. */
const MAX_ATTEMPTS = 3;

/**
 * Changes the alternative text of a file, if it still is `before`; else returns the file as it is stored, with
 * `changed`.
 */
export async function updateAltText(
  id: string,
  before: string,
  alt: string,
): Promise<ApiResult<{ file: Summary; changed: boolean }>> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await readObject(MEDIA_TYPE, id);
    if ('problem' in read) return read;
    const file = summaryOf(MEDIA_TYPE, read.data);
    const current = file.file?.alt ?? '';
    if (current === alt || current !== before)
      return { data: { file, changed: current !== alt }, etag: null };
    const header = read.etag === null ? {} : { 'If-Match': read.etag };
    const result = await sendRequest<Record<string, unknown>>(
      api.PATCH('/api/v1/content/{contentType}/{id}', {
        params: { path: { contentType: MEDIA_TYPE, id }, header },
        body: { alt },
      }),
    );
    if (!('problem' in result))
      return { data: { file: summaryOf(MEDIA_TYPE, result.data), changed: false }, etag: null };
    if (result.problem.status !== 412 || attempt === MAX_ATTEMPTS) return result;
  }
}
