// Unsaved work in this browser (IndexedDB), per user. Nothing here is shown before its owner has signed in
// again; it is removed at sign-out and after 30 days.
import { createStore, del, delMany, entries, set, type UseStore } from 'idb-keyval';
import { serverNow } from '../value/clock';
import { localKeys, writeLocal } from '../value/local-storage';
import type { Base, Values } from './form-state.svelte';
import type { Creation } from './save-queue';

/** Unsaved work on one object. */
export interface UnsavedWork {
  user: string;
  type: string;
  /** Id of the object; `~` and a UUID for one that does not exist yet. */
  id: string;
  /** UUID of this work: there may be several on the same object. */
  workId: string;
  /** The tab in which it is written. */
  tab: string;
  base: Base | null;
  values: Values;
  /** The values as JSON: numbers in it are exact. */
  text?: string;
  /** Unix time in milliseconds, by the clock of the server. */
  savedAt: number;
  /** `ETag` of the working copy that the server stored when this work was last sent; null before that. */
  sentTag: string | null;
  /** The server has these values. */
  synced: boolean;
  /** The creation of this object that was sent last, if the server may have carried it out; `text` is its JSON. */
  creation?: Creation & { text: string };
}

const STORE_ON_DEVICE_KEY = 'cms.keep';
const MAX_AGE_MS = 30 * 86_400_000;
/** A broken storage never responds. */
const DATABASE_TIMEOUT_MS = 20_000;

let store: UseStore | undefined;
/** Created at the first use. If the browser forbids it, its requests reject. */
function database(): UseStore {
  return (store ??= createStore('cms-unsaved', 'work'));
}

/** Returns whether this browser may keep unsaved work; off on shared machines. */
export function storesOnDevice(): boolean {
  try {
    return localStorage.getItem(STORE_ON_DEVICE_KEY) !== 'no';
  } catch {
    return false;
  }
}

export function setStoresOnDevice(stores: boolean): void {
  writeLocal(STORE_ON_DEVICE_KEY, stores ? null : 'no');
}

function keyOf(work: Pick<UnsavedWork, 'user' | 'type' | 'id' | 'workId'>): string[] {
  return [work.user, work.type, work.id, work.workId];
}

/** Stores work; rejects when the browser refuses, or does not respond. */
export async function putUnsavedWork(work: UnsavedWork): Promise<void> {
  if (!storesOnDevice()) throw new Error('Storing on this device is off');
  await withTimeout(DATABASE_TIMEOUT_MS, set(keyOf(work), work, database()));
}

async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_done, failed) => {
    timer = setTimeout(() => failed(new Error('The browser does not respond')), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export async function deleteUnsavedWork(
  work: Pick<UnsavedWork, 'user' | 'type' | 'id' | 'workId'>,
): Promise<void> {
  await del(keyOf(work), database());
}

/** Work of a user, newest first; empty when the browser refuses. */
export async function listUnsavedWork(user: string, type?: string, id?: string): Promise<UnsavedWork[]> {
  try {
    const all = await withTimeout(DATABASE_TIMEOUT_MS, entries<string[], UnsavedWork>(database()));
    return all
      .map(([, work]) => work)
      .filter((work) => work.user === user && (type === undefined || work.type === type))
      .filter((work) => id === undefined || work.id === id)
      .sort((a, b) => b.savedAt - a.savedAt);
  } catch {
    return [];
  }
}

/** The beginning of the names in `localStorage` under which edited types of a user are stored. */
export function editedTypesPrefix(user: string): string {
  return `cms.types.${user}.`;
}

/** Removes the edited types of a user, at sign-out: they are in this browser only. */
export function deleteStoredTypes(user: string): void {
  for (const name of localKeys(editedTypesPrefix(user))) writeLocal(name, null);
}

/** Removes all unsaved work of a user on objects. */
export async function deleteAllUnsavedWork(user: string): Promise<void> {
  const all = await listUnsavedWork(user);
  if (all.length > 0) await delMany(all.map(keyOf), database());
}

/** Removes work of every user that is older than 30 days, by the earlier of both clocks: one may be wrong. */
export async function deleteExpiredWork(now = Math.min(Date.now(), serverNow())): Promise<void> {
  try {
    const all = await entries<string[], UnsavedWork>(database());
    const old = all.filter(([, work]) => now - work.savedAt > MAX_AGE_MS).map(([key]) => key);
    if (old.length > 0) await delMany(old, database());
  } catch {
    // A browser without storage has nothing to remove.
  }
}
