// Merges unsaved work of an earlier state of an object into the form. Pure function.
import type { FormState } from './form-state.svelte';
import { merge } from './merge';
import type { MergeConflict } from './newer-version';
import type { StoredObject } from './object-requests';
import type { FoundWork } from './open-object';

/**
 * Merges unsaved work that was found, if there is any, with the values that the form shows now. Both are of the user.
 * Returns them as a merge with a newer version: `mine` is the found work, `theirs` and `remoteChanges` are the form.
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
