// Undo of a deletion of several objects. Knows the API, no component.
import { sendRequest, api, type Schema } from '../../../api/client';
import { isRetryable, messageOf, type Problem } from '../../../api/problem';
import type { Values } from '../../../object/form-state.svelte';
import { baseOf, readTrashEntry, restoreObject, updateObject } from '../../../object/object-requests';
import { statusOf, type Status } from '../../../object/publish-rules';
import { session, typeNamed } from '../../../session/session.svelte';
import { t } from '../../../text';
import { linkTo, targetKey, targetOf } from '../../../value/link';
import { isRecord } from '../../../value/record';
import { readLiveIds, sendRepeatedly, statusBatch } from './requests';
import { notUndone, restoreEdited, type UndoResult } from './undo';
import { displayTitle } from '../../../value/title';

type Item = Schema['TrashItem'];
const MAX_TRASH_PAGES = 20;

/** Restores objects that this user has just deleted. Objects that are live already count as restored. */
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
    if ('problem' in found) return notUndone(0, found.problem);
    // The trash lists the latest deletion of an object first: `waiting.delete(id)` returns true for it only.
    items.push(...found.data.data.filter(({ id }) => waiting.delete(id)));
    if (page >= found.data.total_pages) break;
  }
  const { refused, problem } = await restoreItems(items.reverse());
  // A restore whose response was lost may have succeeded.
  const live = await sendRepeatedly(() => readLiveIds(type, ids));
  if ('problem' in live) return notUndone(items.length - refused.length, live.problem);
  const inTrash = refused.filter(({ id }) => !live.data.has(id));
  return {
    undone: live.data.size,
    skipped: 0,
    inTrash,
    gone: ids.length - live.data.size - inTrash.length,
    problem,
    canRepeat: inTrash.some((item) => isRetryable(item.problem)),
  };
}

/**
 * Restores entries of the trash. Those that are refused are tried again after others, to which they may link. If only
 * objects are left that link to each other, one of them is restored without these links, and its links are restored at
 * the end.
 */
async function restoreItems(items: Item[]): Promise<{ refused: Refused[]; problem: Problem | null }> {
  const unlinked: Unlinked[] = [];
  let refused: Refused[] = [];
  for (let pending = items; pending.length > 0;) {
    refused = [];
    for (const item of pending) {
      const problem = await restoreObject(item.entry);
      if (problem) refused.push({ ...item, problem });
    }
    if (refused.length === pending.length) {
      const next = await restoreOneUnlinked(pending);
      if (!next) break;
      unlinked.push(next);
      refused = refused.filter(({ entry }) => entry !== next.entry);
    }
    pending = refused;
  }
  let problem: Problem | null = null;
  for (const object of unlinked) {
    const failed = await restoreLinks(object);
    if (failed) problem ??= { ...failed, message: `${t.bulk.undoLinks(object.title)} ${messageOf(failed)}` };
  }
  return { refused, problem };
}

type Refused = Item & { problem: Problem };

/** An object that was restored without some of its links, and its state before the deletion. */
interface Unlinked {
  entry: string;
  title: string;
  type: string;
  id: string;
  values: Values;
  /** Null for objects without Draft & Public. */
  status: Status | null;
  publicVersion: number;
}

/**
 * Restores one of the entries. Its links to the other entries are replaced by links to itself, because the property may
 * require a link. Null if the server refuses every entry.
 */
async function restoreOneUnlinked(pending: Item[]): Promise<Unlinked | null> {
  const targets = new Set(pending.map(({ contentType, id }) => targetKey({ type: contentType, id })));
  for (const { entry, contentType, id, objectTitle } of pending) {
    const read = await readTrashEntry(entry);
    if ('problem' in read) continue;
    const { object } = read.data;
    const { values } = baseOf(object, null);
    const own = linkTo(contentType, id).dataUrl;
    const data = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, withOwnLink(value, targets, own)]),
    );
    const status = typeNamed(contentType)?.draftPublic === true ? statusOf(object.internal?.status) : null;
    // The published version has links too: the object is published again when its links are back.
    const draft = status === 'public' || status === 'modified';
    if (await restoreObject(entry, { data, draft }, [values])) continue;
    const publicVersion = object.internal?.publicVersion ?? -1;
    return {
      entry,
      title: displayTitle(objectTitle, id),
      type: contentType,
      id,
      values,
      status,
      publicVersion,
    };
  }
  return null;
}

/** The value with each link to one of `targets` replaced by a link to `own`. A list keeps only one such link. */
function withOwnLink(value: unknown, targets: ReadonlySet<string>, own: string): unknown {
  if (Array.isArray(value)) {
    const first = value.findIndex((item) => isLinkTo(item, targets));
    return value
      .filter((item, index) => index === first || !isLinkTo(item, targets))
      .map((item) => withOwnLink(item, targets, own));
  }
  if (!isRecord(value)) return value;
  if (isLinkTo(value, targets)) return { ...value, dataUrl: own };
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withOwnLink(member, targets, own)]),
  );
}

function isLinkTo(value: unknown, targets: ReadonlySet<string>): boolean {
  const target = targetOf(value);
  return target !== null && targets.has(targetKey(target));
}

async function restoreLinks({ type, id, values, status, publicVersion }: Unlinked): Promise<Problem | null> {
  const updated = await updateObject(type, id, values, '*');
  if ('problem' in updated) return updated.problem;
  const version = updated.data.internal?.latestVersion ?? 0;
  if (status === 'modified') return restoreEdited(type, id, version, publicVersion);
  if (status !== 'public') return null;
  const published = await statusBatch(type, 'publish', [id]);
  return 'problem' in published ? published.problem : null;
}
