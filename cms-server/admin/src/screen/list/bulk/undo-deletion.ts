// Undo of a deletion of several objects. Knows the API, no component.
import { sendRequest, api, type Schema } from '../../../api/client';
import type { Problem } from '../../../api/problem';
import type { Values } from '../../../object/form-state.svelte';
import { linksIn } from '../../../object/links';
import { baseOf, readTrashEntry, restoreObject, updateObject } from '../../../object/object-requests';
import { statusOf, type Status } from '../../../object/publish-rules';
import { session, typeNamed } from '../../../session/session.svelte';
import { linkTo } from '../../../value/link';
import { statusBatch } from './requests';
import { restoreEdited, type UndoResult } from './undo';

type Item = Schema['TrashItem'];
const MAX_TRASH_PAGES = 20;

/** Restores objects that this user has just deleted. */
export async function restoreDeleted(type: string, ids: string[]): Promise<UndoResult> {
  const waiting = new Set(ids);
  const by = session.context?.by.id;
  const items: Item[] = [];
  for (let page = 1; waiting.size > 0 && page <= MAX_TRASH_PAGES; page += 1) {
    const found = await sendRequest(
      api.GET('/api/v1/trash', {
        params: { query: { page, limit: 1000, 'content_type[]': [type], ...(by && { by }) } },
      }),
    );
    if ('problem' in found) return { undone: 0, skipped: 0, problem: found.problem };
    // The trash lists the latest deletion of an object first: `delete` is true for that one only.
    items.push(...found.data.data.filter(({ id }) => waiting.delete(id)));
    if (page >= found.data.total_pages) break;
  }
  return restoreItems(items.reverse());
}

/**
 * Restores entries of the trash. Those that are refused are tried again after others, to which they may link. If only
 * objects are left that link to each other, one of them is restored without these links, which return at the end.
 */
async function restoreItems(items: Item[]): Promise<UndoResult> {
  const result: UndoResult = { undone: 0, skipped: 0, problem: null };
  const unlinked: Unlinked[] = [];
  let pending = items;
  while (pending.length > 0) {
    const refused: Item[] = [];
    result.problem = null;
    for (const item of pending) {
      const problem = await restoreObject(item.entry);
      if (problem) {
        result.problem ??= problem;
        refused.push(item);
      } else result.undone += 1;
    }
    if (refused.length === pending.length) {
      const next = await restoreOneUnlinked(pending);
      if (!next) break;
      unlinked.push(next);
      result.problem = null;
    }
    pending = refused.filter(({ id }) => !unlinked.some((object) => object.id === id));
  }
  for (const object of unlinked) {
    const problem = await restoreLinks(object);
    if (problem) result.problem ??= problem;
    else result.undone += 1;
  }
  return result;
}

/** An object that was restored without some of its links, and its state before the deletion. */
interface Unlinked {
  type: string;
  id: string;
  values: Values;
  /** Null for objects without Draft & Public. */
  status: Status | null;
  publicVersion: number;
}

/** Restores one of the entries without its links to the others; null when each is refused. */
async function restoreOneUnlinked(pending: Item[]): Promise<Unlinked | null> {
  const targets = new Set(pending.map(({ contentType, id }) => linkTo(contentType, id).dataUrl));
  for (const { entry, contentType, id } of pending) {
    const read = await readTrashEntry(entry);
    if ('problem' in read) continue;
    const { object } = read.data;
    const { values } = baseOf(object, null);
    const data = Object.fromEntries(
      Object.entries(values).filter(([, value]) => !linksIn(value).some((url) => targets.has(url))),
    );
    const status = typeNamed(contentType)?.draftPublic === true ? statusOf(object.internal?.status) : null;
    // The published version has links too: the object is published again when its links are back.
    const draft = status === 'public' || status === 'modified';
    if (await restoreObject(entry, { data, draft }, [values])) continue;
    return { type: contentType, id, values, status, publicVersion: object.internal?.publicVersion ?? -1 };
  }
  return null;
}

async function restoreLinks({ type, id, values, status, publicVersion }: Unlinked): Promise<Problem | null> {
  const updated = await updateObject(type, id, values, '*');
  if ('problem' in updated) return updated.problem;
  if (status === 'modified') return restoreEdited(type, id, publicVersion);
  if (status !== 'public') return null;
  const published = await statusBatch(type, 'publish', [id]);
  return 'problem' in published ? published.problem : null;
}
