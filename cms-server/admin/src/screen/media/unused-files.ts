// Files to which no object links, and whose ids no searchable text contains. The server has no filter for them, so the
// page checks the files of one page, a few at a time. Knows requests, no component.
import { sendRequest, api } from '../../api/client';
import { MEDIA_TYPE, type Summary } from '../../object/summary';
import { session } from '../../session/session.svelte';
import { phrase } from '../../value/search-text';

const MAX_PARALLEL = 4;

export interface UnusedFiles {
  files: Summary[];
  /** Files whose uses could not be read. */
  unknown: number;
}

/** The files that no object uses. Links from objects that the user may not read are uses, too. */
export async function findUnused(files: Summary[], signal: AbortSignal): Promise<UnusedFiles> {
  const unused = new Set<string>();
  let unknown = 0;
  const queue = [...files];
  async function work() {
    for (let file = queue.shift(); file && !signal.aborted; file = queue.shift()) {
      const used = await isUsed(file.id, signal);
      if (used === null) unknown += 1;
      else if (!used) unused.add(file.id);
    }
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
  return { files: files.filter(({ id }) => unused.has(id)), unknown };
}

/** Returns whether an object uses a file; null if this could not be read. */
async function isUsed(id: string, signal: AbortSignal): Promise<boolean | null> {
  const links = await sendRequest(
    api.GET('/api/v1/content/{contentType}/{id}/incoming', {
      params: { path: { contentType: MEDIA_TYPE, id }, query: { limit: 1 } },
      signal,
    }),
  );
  if ('problem' in links) return null;
  if (links.data.total_count > 0 || links.data.hidden) return true;
  // Blocks hold the URL of an image, which contains its id. URLs in rich texts and Markdown are not searchable.
  const types = session.types.map(({ name }) => name).filter((name) => name !== MEDIA_TYPE);
  const texts = await sendRequest(
    api.GET('/api/v1/search', {
      params: {
        query: { q: phrase(id), limit: 1, 'content_type[]': types, 'item_fields[]': ['id'] },
      },
      signal,
    }),
  );
  return 'problem' in texts ? null : texts.data.total_count > 0;
}
