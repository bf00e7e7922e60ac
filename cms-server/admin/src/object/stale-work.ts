// Merges unsaved work of an earlier state of an object into the form. Pure function.
import type { FormState } from './form-state.svelte';
import { merge } from './merge';
import type { MergeConflict } from './newer-version';
import type { StoredObject } from './object-requests';
import type { FoundWork } from './open-object';

/**
 * Merges unsaved work, if there is any, into the form. Reuses the merge with a newer version: `mine` is the unsaved work
 * that was found, `theirs` and `remoteChanges` are the values that the form shows now, which are also the user's.
 */
export function staleWorkConflict(
  work: FoundWork | null,
  object: StoredObject | null,
  formState: FormState,
): MergeConflict | null {
  if (!work || !object) return null;
  const merged = merge(work.base?.values ?? {}, work.values, formState.mine);
  const { etag = null, version = 0 } = formState.base ?? {};
  const remoteChanges = { by: [], version, names: merged.theirNames, converted: false };
  return { merge: merged, newerVersion: { object, etag, remoteChanges }, reason: 'unsaved-work' };
}
