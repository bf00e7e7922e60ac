// Continues the unsaved work that was found when an object was opened. Knows the form, no request.
import { formFor, session } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import { isEqual } from '../value/equal';
import { uuid } from '../value/uuid';
import type { FormState } from './form-state.svelte';
import type { FoundWork, Opened } from './open-object';
import { workWithNewNames } from './renamed-values';
import { UnsavedWorkStore, type UnsavedWorkState } from './unsaved-work';

interface ContinuedWork {
  store: UnsavedWorkStore;
  /** Work of an earlier state of the object, which is not put into the form. */
  stale: FoundWork | null;
  /** When the work in the form was stored; null if none was found. */
  restoredSavedAt: number | null;
}

/** Puts the work that was found into the form, unless it is of an earlier state of the object. */
export function continueWork(
  type: ContentType,
  { found: original, objectKey: id, copyTag }: Opened,
  tab: string,
  formState: FormState,
  onstate: (state: UnsavedWorkState) => void,
): ContinuedWork {
  const work = original && workWithNewNames(formFor(type).fields, original);
  // Only names have changed since, not values.
  const isRenamed = work?.base?.values !== original?.base?.values;
  const isCurrent = work?.isCurrent || (isRenamed && isEqual(work?.base?.values, formState.base?.values));
  const current = isCurrent ? work : null;
  const workId = current?.workId ?? uuid();
  const key = { user: session.context?.user.id ?? '', type: type.name, id, workId, tab };
  const store = new UnsavedWorkStore(key, () => formState.unsaved, onstate, current !== null, copyTag);
  if (work) formState.addSource(work.values);
  if (work?.creation) formState.addSource(work.creation.values);
  if (current) formState.mine = current.values;
  store.deviceOnly = work !== null && !current;
  store.creation = current?.creation;
  return { store, stale: current ? null : work, restoredSavedAt: current?.savedAt ?? null };
}
