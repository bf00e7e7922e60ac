// Newer versions of an open object that were saved elsewhere, and its deletion. Knows requests, no form.
import type { Problem } from '../api/problem';
import { loadTypes, typeNamed } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import type { Field } from '../type/form';
import type { Base } from './form-state.svelte';
import { changedNames } from './form-state.svelte';
import type { Merge } from './merge';
import { baseOf, readObject, type Deletion, type StoredObject } from './object-requests';
import { readAuthorsSince } from './versions';

/** What the editor reports to the screen. */
export interface EditorEvents {
  /** The object was saved as this version; `remoteChanges` were merged without a conflict. */
  saved: (version: number, remoteChanges: RemoteChanges | null) => void;
  /** A new object got its id. */
  created: (id: string) => void;
  /** The object was deleted. The values in the form are now unsaved work on a new object with this key. */
  detached: (objectKey: string) => void;
  /** Somebody changed the object, and the form shows it. */
  updated: (remoteChanges: RemoteChanges) => void;
}

/** Changes between the state in the form and a newer version. */
export interface RemoteChanges {
  /** Names of the authors, without repetition; may be empty. */
  by: string[];
  version: number;
  /** Names of the changed properties. */
  names: string[];
  /** A change of the content type converted the values; nobody saved a new version. */
  converted: boolean;
}

/** A newer version of the object that is not in the form. */
export interface NewerVersion {
  object: StoredObject;
  etag: string | null;
  remoteChanges: RemoteChanges;
}

/** A three-way merge whose conflicts the user resolves. */
export interface MergeConflict {
  merge: Merge;
  newerVersion: NewerVersion;
  /**
   * Why values are merged. `save`: a newer version prevented a save, so the merged values are saved; `newer-version`:
   * the form takes over a newer version; `unsaved-work`: unsaved work is based on an earlier version.
   */
  reason: 'save' | 'newer-version' | 'unsaved-work';
}

/** The object was deleted; `deletion` is null if the user may not see who deleted it. */
export interface DeletedObject {
  deletion: Deletion | null;
}

/** Reads the current version, and which changes separate it from `base`. */
export async function readNewerVersion(
  type: string,
  id: string,
  base: Base | null,
): Promise<NewerVersion | { problem: Problem }> {
  const result = await readObject(type, id);
  if ('problem' in result) return result;
  const isNewer = base === null || result.etag !== base.etag;
  const by = isNewer ? await readAuthorsSince(type, id, base?.version ?? 0) : [];
  const current = baseOf(result.data, result.etag);
  const names = changedNames(base?.values ?? {}, current.values);
  const converted = base !== null && current.version === base.version;
  return {
    object: result.data,
    etag: result.etag,
    remoteChanges: { by, version: current.version, names, converted },
  };
}

/** Returns whether a property with a new value is none of `fields`: then the type has changed, too. */
export function hasUnknownProperty({ object, remoteChanges }: NewerVersion, fields: Field[]): boolean {
  return remoteChanges.names.some(
    (name) => object[name] !== undefined && !fields.some((field) => field.name === name),
  );
}

/** Reads the content types again; returns the one with this name. */
export async function reloadType(name: string): Promise<ContentType | undefined> {
  await loadTypes();
  return typeNamed(name);
}
