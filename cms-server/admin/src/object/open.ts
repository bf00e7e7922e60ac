// Opening an object: its stored state, and unsaved work that this user has on it.
import { openTabs, type OpenTabs } from '../api/tab';
import type { Problem } from '../api/problem';
import { parseTime } from '../text/format';
import { isEqual } from '../value/equal';
import { uuid } from '../value/uuid';
import type { Base, Values } from './draft.svelte';
import { keepWork, keptWork, type KeptWork } from './kept';
import { baseOf, readObject, readVersion, type StoredObject } from './store';
import { contentOf, newCopies, readCopy, type WorkingCopy } from './working-copy';

/** Unsaved work that was found. */
export interface Found {
  values: Values;
  /** What it was made from; null for a new object, or when that is not known any more. */
  base: Base | null;
  /** The object still is in the state that the work was made from. */
  current: boolean;
  /** Milliseconds. */
  savedAt: number;
  /** Name of the work in this browser; null when it was found on the server. */
  work: string | null;
  /** `ETag` of the working copy on the server that has this work; null when it was not sent. */
  sent: string | null;
}

export interface Opened {
  object: StoredObject | null;
  etag: string | null;
  /** Id under which unsaved work is stored. */
  workId: string;
  /** The object was deleted, and the work found on this device is what is left of it. */
  deleted: boolean;
  found: Found | null;
}

/** Who opens it, and whether they can have unsaved work on it. */
export interface Opener {
  user: string;
  writes: boolean;
}

export async function openObject(
  type: string,
  id: string,
  opener: Opener,
): Promise<Opened | { problem: Problem }> {
  const [stored, found] = await Promise.all([
    readObject(type, id),
    opener.writes ? find(type, id, opener) : null,
  ]);
  if ('problem' in stored) {
    if (stored.problem.status !== 404 || !found) return stored;
    return { object: null, etag: null, workId: id, deleted: true, found: { ...found, current: true } };
  }
  const base = baseOf(stored.data, stored.etag);
  return {
    object: stored.data,
    etag: stored.etag,
    workId: id,
    deleted: false,
    found: found && (await based(type, id, found, base)),
  };
}

/** A name for work on an object that does not exist yet. */
export function newWorkId(): string {
  return `~${uuid()}`;
}

/** A new object: continues `copy` (`~` and a UUID), else the newest unsaved one, else starts an empty one. */
export async function openNew(type: string, copy: string | null, opener: Opener): Promise<Opened> {
  const workId = copy ?? (await newestNew(type, opener)) ?? newWorkId();
  const found = await find(type, workId, opener);
  // Nobody else can change what does not exist yet.
  return { object: null, etag: null, workId, deleted: false, found: found && { ...found, current: true } };
}

async function newestNew(type: string, opener: Opener): Promise<string | null> {
  const [onDevice, onServer, open] = await Promise.all([
    keptWork(opener.user, type),
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

/** Tells whether another tab is writing this work now. */
function isOpen(work: KeptWork, open: OpenTabs): boolean {
  return open.others.has(work.tab);
}

/** Found work, before it is compared with the object. */
interface Candidate extends Found {
  /** Number of the version that a copy on the server was made from. */
  version: number | null;
}

async function find(type: string, id: string, opener: Opener): Promise<Candidate | null> {
  const [all, open, copy] = await Promise.all([
    keptWork(opener.user, type, id),
    openTabs(),
    readCopy(type, id),
  ]);
  const newest = all.find((work) => !isOpen(work, open));
  // The copy on the server is that of the other tab.
  if (all.some((work) => isOpen(work, open))) return newest ? fromDevice(newest) : null;
  if ('problem' in copy) return newest ? fromDevice(newest) : null;
  const server = fromServer(copy.data, copy.etag);
  if (!newest) return server;
  if (newest.sent === copy.etag || newest.savedAt >= server.savedAt) {
    // Another device wrote that copy: it stays here, because this work will replace it.
    const known = all.some((work) => work.sent === copy.etag || isEqual(work.values, server.values));
    if (!known) await keepFromServer(newest, server);
    return fromDevice(newest);
  }
  return server;
}

async function keepFromServer(like: KeptWork, { values, savedAt }: Candidate): Promise<void> {
  const { user, type, id, tab } = like;
  const work = { user, type, id, tab, work: uuid(), base: null, values, savedAt, sent: null, synced: false };
  await keepWork(work).catch(() => undefined);
}

function fromDevice({ values, base, savedAt, work, sent }: KeptWork): Candidate {
  return { values, base, current: false, savedAt, work, sent, version: null };
}

function fromServer(copy: WorkingCopy, sent: string | null): Candidate {
  const { values, version } = contentOf(copy);
  const base = copy.base === null ? null : { values: {}, etag: copy.base, version: version ?? 0 };
  const savedAt = parseTime(copy.savedAt)?.getTime() ?? 0;
  return { values, base, current: copy.current, savedAt, work: null, sent, version };
}

/** The work with the values that it was made from; null when it changes nothing. */
async function based(type: string, id: string, found: Candidate, current: Base): Promise<Found | null> {
  const { values, savedAt, work, sent, version } = found;
  if (isEqual(values, current.values)) return null;
  const isCurrent =
    found.current ||
    found.base?.etag === current.etag ||
    (work !== null && isEqual(found.base?.values, current.values));
  if (isCurrent) return { values, savedAt, work, sent, base: current, current: true };
  const fromVersion = work === null && version !== null ? await readVersion(type, id, version) : null;
  // Without a base every difference counts as a change of mine; the user sees them before they are merged.
  const base = fromVersion ? baseOf(fromVersion, null) : work === null ? current : (found.base ?? current);
  return { values, savedAt, work, sent, base, current: false };
}
