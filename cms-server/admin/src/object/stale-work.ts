// Unsaved work of an earlier state of an object. Plain code.
import type { Draft } from './draft.svelte';
import { merge } from './merge';
import type { MergeConflict } from './newer-version';
import type { StoredObject } from './object-requests';
import type { FoundWork } from './open-object';

/** The unsaved work merged with what the form shows: the user resolves its conflicts. */
export function staleWorkConflict(work: FoundWork, object: StoredObject, draft: Draft): MergeConflict {
  const merged = merge(work.base?.values ?? {}, work.values, draft.mine);
  const { etag = null, version = 0 } = draft.base ?? {};
  const remoteChanges = { by: [], version, names: merged.theirNames, converted: false };
  return { merge: merged, newerVersion: { object, etag, remoteChanges }, reason: 'unsaved-work' };
}
