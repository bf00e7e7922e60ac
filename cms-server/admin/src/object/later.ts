// What others did to an open object while it was edited. Knows requests, no form.
import type { Problem } from '../api/problem';
import type { Base } from './draft.svelte';
import { changedNames } from './draft.svelte';
import type { Merge } from './merge';
import { baseOf, changesSince, readObject, type Deletion, type StoredObject } from './store';

/** What the editor reports to the screen. */
export interface EditorEvents {
  /** The object was saved as this version; `others` changed it meanwhile, without a conflict. */
  saved: (version: number, others: Others | null) => void;
  /** A new object got its id. */
  created: (id: string) => void;
  /** What the form has of a deleted object became work on a new one. */
  detached: (workId: string) => void;
  /** Somebody changed the object, and the form shows it. */
  updated: (others: Others) => void;
}

/** What others did. */
export interface Others {
  /** Their names, without repetition; may be empty. */
  by: string[];
  version: number;
  /** Properties that they changed. */
  names: string[];
  /** The values are those of the same version: a change of the content type converted them. */
  converted: boolean;
}

/** A later state of the object that is not in the form. */
export interface Later {
  object: StoredObject;
  etag: string | null;
  others: Others;
}

/** A merge that the user decides about. */
export interface Decision {
  merge: Merge;
  later: Later;
  /** Why: saving was refused (then the result is saved), later changes, or unsaved work of an earlier state. */
  reason: 'save' | 'later' | 'found';
}

/** The object was deleted; by whom, where the user may know it. */
export interface Gone {
  deletion: Deletion | null;
}

/** Reads the current state, and who made it from `base`. */
export async function readLater(
  type: string,
  id: string,
  base: Base | null,
): Promise<Later | { problem: Problem }> {
  const result = await readObject(type, id);
  if ('problem' in result) return result;
  const isLater = base === null || result.etag !== base.etag;
  const made = isLater ? await changesSince(type, id, base?.version ?? 0) : [];
  const current = baseOf(result.data, result.etag);
  const names = changedNames(base?.values ?? {}, current.values);
  const by = [...new Set(made.map((version) => version.by).filter((name) => name !== ''))];
  const converted = base !== null && current.version === base.version;
  return {
    object: result.data,
    etag: result.etag,
    others: { by, version: current.version, names, converted },
  };
}
