// Files to which no object links, and whose ids no property of an object contains. The server has no filter for them,
// so the page checks the files of one page. Sends requests; imports no component.
import { sendRequest, api } from '../../api/client';
import { MEDIA_TYPE, type Summary } from '../../object/summary';
import { session } from '../../session/session.svelte';

const MAX_PARALLEL = 4;
/** Objects that are read at a time, to see which of the ids they contain. */
const OBJECTS_PER_REQUEST = 50;

export interface UnusedFiles {
  files: Summary[];
  /** Files whose uses could not be read. */
  unknown: number;
}

/** The files that no object uses. Links from objects that the user may not read are uses, too. */
export async function findUnused(files: Summary[], signal: AbortSignal): Promise<UnusedFiles> {
  const unlinked = new Set<string>();
  let unknown = 0;
  const queue = [...files];
  async function work() {
    for (let file = queue.shift(); file && !signal.aborted; file = queue.shift()) {
      const linked = await isLinked(file.id, signal);
      if (linked === null) unknown += 1;
      else if (!linked) unlinked.add(file.id);
    }
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
  for (const { name } of session.types) {
    if (name === MEDIA_TYPE) continue;
    if (await removeMentioned(name, unlinked, signal)) continue;
    return { files: [], unknown: unknown + unlinked.size };
  }
  return { files: files.filter(({ id }) => unlinked.has(id)), unknown };
}

/** Returns whether an object links to a file; null if this could not be read. */
async function isLinked(id: string, signal: AbortSignal): Promise<boolean | null> {
  const links = await sendRequest(
    api.GET('/api/v1/content/{contentType}/{id}/incoming', {
      params: { path: { contentType: MEDIA_TYPE, id }, query: { limit: 1 } },
      signal,
    }),
  );
  if ('problem' in links) return null;
  return links.data.total_count > 0 || links.data.hidden;
}

/**
 * Removes the ids that a property of an object of a type contains: texts hold the URL of a file, which contains its
 * id. Returns false if the objects could not be read.
 */
async function removeMentioned(contentType: string, ids: Set<string>, signal: AbortSignal): Promise<boolean> {
  while (ids.size > 0) {
    const filters = JSON.stringify({ '*': { type: 'contains', filter: [...ids] } });
    const result = await sendRequest(
      api.GET('/api/v1/content/{contentType}', {
        params: { path: { contentType }, query: { filters, limit: OBJECTS_PER_REQUEST } },
        signal,
      }),
    );
    if ('problem' in result) return false;
    if (result.data.data.length === 0) return true;
    const text = JSON.stringify(result.data.data).toLowerCase();
    const found = [...ids].filter((id) => text.includes(id.toLowerCase()));
    if (found.length === 0) return false;
    for (const id of found) ids.delete(id);
  }
  return true;
}
