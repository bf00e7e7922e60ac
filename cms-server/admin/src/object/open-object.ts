// Opening an object: its stored state, and unsaved work that this user has on it.
import { openTabs, type OpenTabs } from '../api/tab';
import type { Problem } from '../api/problem';
import { parseTime } from '../text/format';
import { isEqual } from '../value/equal';
import { exactText, recordSourceText } from '../value/exact-json';
import { uuid } from '../value/uuid';
import type { Base, Values } from './form-state.svelte';
import { deleteUnsavedWork, putUnsavedWork, listUnsavedWork, type UnsavedWork } from './unsaved-work-db';
import { newObjectKey } from './new-object-key';
import { baseOf, readObject, type StoredObject } from './object-requests';
import { readVersion } from './versions';
import { contentOf, newCopies, readCopy, removeCopy, type WorkingCopy } from './working-copy';

/** Unsaved work that was found. */
export interface FoundWork {
  values: Values;
  /** What it was made from; null for a new object, or when that is not known any more. */
  base: Base | null;
  /** The work goes into the form: the object is in the state that the work was made from, or does not exist. */
  isCurrent: boolean;
  /** Unix time in milliseconds. */
  savedAt: number;
  /** UUID of the work in this browser; null when it was found on the server. */
  workId: string | null;
  /** `ETag` of the working copy on the server that has this work; null when it was not sent. */
  sentTag: string | null;
  /** The creation that the server may have carried out before the page was closed. */
  creation?: UnsavedWork['creation'] | undefined;
}

export interface Opened {
  object: StoredObject | null;
  etag: string | null;
  /** Identifies the object in the key of unsaved work: its id, or for a new object `~` and a UUID. */
  objectKey: string;
  /** The object was deleted, and the work found on this device is what is left of it. */
  deleted: boolean;
  found: FoundWork | null;
  /** `ETag` of the working copy on the server that this work may replace; null if no such copy is known. */
  copyTag: string | null;
}

/** The user who opens an object, and whether they can have unsaved work on it. */
export interface Opener {
  user: string;
  writes: boolean;
}

export async function openObject(
  type: string,
  id: string,
  opener: Opener,
): Promise<Opened | { problem: Problem }> {
  const [stored, { found, copyTag, isCopyOfFoundWork }] = await Promise.all([
    readObject(type, id),
    opener.writes ? findWork(type, id, opener) : NO_WORK,
  ]);
  if ('problem' in stored) {
    if (stored.problem.status !== 404 || !found) return stored;
    return {
      object: null,
      etag: null,
      objectKey: id,
      deleted: true,
      found: { ...found, isCurrent: true },
      copyTag,
    };
  }
  const base = baseOf(stored.data, stored.etag);
  const opened = { object: stored.data, etag: stored.etag, objectKey: id, deleted: false };
  if (found && isEqual(found.values, base.values)) {
    // The page was closed before the response to its save: the work is in the object already.
    const { workId } = found;
    if (workId !== null)
      await deleteUnsavedWork({ user: opener.user, type, id, workId }).catch(() => undefined);
    const isRemoved =
      isCopyOfFoundWork && copyTag !== null && !('problem' in (await removeCopy(type, id, copyTag)));
    return { ...opened, found: null, copyTag: isRemoved ? null : copyTag };
  }
  return { ...opened, found: found && (await withBase(type, id, found, base)), copyTag };
}

/** Opens a new object: the one with the key `continued`, else that with the newest unsaved work, else an empty one. */
export async function openNew(type: string, continued: string | null, opener: Opener): Promise<Opened> {
  const objectKey = continued ?? (await newestObjectKey(type, opener)) ?? newObjectKey();
  const { found, copyTag } = await findWork(type, objectKey, opener);
  // Nobody else can change an object that does not exist yet: the work is current.
  return {
    object: null,
    etag: null,
    objectKey,
    deleted: false,
    found: found && { ...found, isCurrent: true },
    copyTag,
  };
}

/** The key of the new object with the newest unsaved work that no other tab writes. */
async function newestObjectKey(type: string, opener: Opener): Promise<string | null> {
  const [onDevice, onServer, open] = await Promise.all([
    listUnsavedWork(opener.user, type),
    newCopies(type),
    openTabs(),
  ]);
  const here = onDevice.filter((work) => work.id.startsWith('~'));
  const elsewhere = new Set(here.filter((work) => isOpen(work, open)).map((work) => work.id));
  const all = [
    ...here.map((work) => ({ id: work.id, at: work.savedAt })),
    ...onServer.map((item) => ({ id: item.id, at: parseTime(item.savedAt)?.getTime() ?? 0 })),
  ].filter((item) => !elsewhere.has(item.id));
  return all.sort((a, b) => b.at - a.at)[0]?.id ?? null;
}

/** Returns whether another tab is writing this work now. */
function isOpen(work: UnsavedWork, open: OpenTabs): boolean {
  return open.others.has(work.tab);
}

/** Found work, before it is compared with the object. */
interface Candidate extends FoundWork {
  /** Number of the version that a copy on the server was made from. */
  version: number | null;
  onServer: boolean;
}

interface WorkSearch {
  found: Candidate | null;
  /** See `Opened.copyTag`. */
  copyTag: string | null;
  /** The copy on the server is of the found work, perhaps of an earlier state of it. */
  isCopyOfFoundWork?: boolean;
}
const NO_WORK: WorkSearch = { found: null, copyTag: null };

async function findWork(type: string, id: string, opener: Opener): Promise<WorkSearch> {
  const [all, open, copy] = await Promise.all([
    listUnsavedWork(opener.user, type, id),
    openTabs(),
    readCopy(type, id),
  ]);
  const newest = all.find((work) => !isOpen(work, open));
  const onDevice = newest ? fromDevice(newest) : null;
  // The copy on the server belongs to the other tab.
  if (all.some((work) => isOpen(work, open))) return { found: onDevice, copyTag: null };
  if ('problem' in copy)
    return { found: onDevice, copyTag: copy.problem.status === 404 ? null : (newest?.sentTag ?? null) };
  const server = fromServer(copy.data, copy.etag);
  if (!newest || !onDevice) return { found: server, copyTag: copy.etag, isCopyOfFoundWork: true };
  if (newest.sentTag === copy.etag || isEqual(newest.values, server.values))
    return { found: onDevice, copyTag: copy.etag, isCopyOfFoundWork: true };
  const isNewer = newest.savedAt >= server.savedAt;
  // The same work, sent while the page was closed.
  if (contentOf(copy.data).workId === newest.workId)
    return {
      found: isNewer ? onDevice : { ...server, workId: newest.workId, creation: onDevice.creation },
      copyTag: copy.etag,
      isCopyOfFoundWork: true,
    };
  // Another device wrote that copy: both stay. The older one waits until the newer is saved or discarded.
  if (!isNewer) return { found: server, copyTag: copy.etag };
  const isStored =
    all.some((work) => isEqual(work.values, server.values)) || (await storeOnDevice(newest, server));
  return { found: onDevice, copyTag: isStored ? copy.etag : null };
}

/** Stores a working copy of the server in this browser, because the server will replace it; false when that failed. */
async function storeOnDevice(like: UnsavedWork, { values, savedAt }: Candidate): Promise<boolean> {
  const { user, type, id, tab } = like;
  const stored = {
    user,
    type,
    id,
    tab,
    workId: uuid(),
    base: null,
    values,
    text: exactText(values, [values]),
    savedAt,
    sentTag: null,
    synced: false,
  };
  return putUnsavedWork(stored).then(
    () => true,
    () => false,
  );
}

function fromDevice({ values, text, base, savedAt, workId, sentTag, creation }: UnsavedWork): Candidate {
  if (text !== undefined) recordSourceText(values, text);
  if (creation) recordSourceText(creation.values, creation.text);
  return {
    values,
    base,
    isCurrent: false,
    savedAt,
    workId,
    sentTag,
    creation,
    version: null,
    onServer: false,
  };
}

function fromServer(copy: WorkingCopy, sentTag: string | null): Candidate {
  const { values, version } = contentOf(copy);
  const base = copy.base === null ? null : { values: {}, etag: copy.base, version: version ?? 0 };
  const savedAt = parseTime(copy.savedAt)?.getTime() ?? 0;
  return { values, base, isCurrent: copy.current, savedAt, workId: null, sentTag, version, onServer: true };
}

/** The work with the values that it was made from. */
async function withBase(type: string, id: string, found: Candidate, current: Base): Promise<FoundWork> {
  const { values, savedAt, workId, sentTag, version, onServer } = found;
  const isCurrent =
    found.isCurrent ||
    found.base?.etag === current.etag ||
    (!onServer && isEqual(found.base?.values, current.values));
  if (isCurrent) return { values, savedAt, workId, sentTag, base: current, isCurrent: true };
  const start = version === null ? null : await readVersion(type, id, version);
  // Without a base every difference counts as a change of mine; the user sees them before they are merged.
  const base =
    start && 'data' in start ? baseOf(start.data, null) : onServer ? current : (found.base ?? current);
  return { values, savedAt, workId, sentTag, base, isCurrent: false };
}
