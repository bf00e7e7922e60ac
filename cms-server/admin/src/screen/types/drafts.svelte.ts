// Edited types that are not applied yet. They stay when the user goes elsewhere or reloads the page, so that
// several types can be changed together. Knows no request and no component.
import { editedTypes, keepsOnDevice } from '../../object/kept';
import { session } from '../../session/session.svelte';
import { string } from '../../type/definition';
import { isChanged, type TypeDraft } from '../../type/type-draft';
import { localNames, readLocal, writeLocal } from '../../value/local';
import { isRecord } from '../../value/record';
import { uuid } from '../../value/uuid';

export interface Work {
  draft: TypeDraft;
  /** Confirmed losses: `type.property` -> number of values that the user has seen. */
  allowed: Record<string, number>;
}

/** Work by the name of its type; one with `+` is a new type. */
export type WorkKey = string;

let user = '';
let works = $state.raw<Record<WorkKey, Work>>({});

function isWork(value: unknown): value is Work {
  return (
    isRecord(value) &&
    isRecord(value.allowed) &&
    isRecord(value.draft) &&
    isRecord(value.draft.definition) &&
    Array.isArray(value.draft.properties) &&
    Array.isArray(value.draft.different)
  );
}

/** Reads the work of the user who is signed in. */
export function loadWorks(): void {
  const id = session.context?.user.id ?? '';
  if (id === user) return;
  user = id;
  const prefix = editedTypes(id);
  works = Object.fromEntries(
    localNames(prefix).flatMap((name) => {
      const work = parse(readLocal(name));
      return work ? [[name.slice(prefix.length), work] as const] : [];
    }),
  );
}

/** Damaged work cannot be shown. */
function parse(text: string | null): Work | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isWork(value) ? value : null;
  } catch {
    return null;
  }
}

function without(key: WorkKey): Record<WorkKey, Work> {
  return Object.fromEntries(Object.entries(works).filter(([other]) => other !== key));
}

/** Another tab has edited a type, or applied it. */
addEventListener('storage', ({ key, newValue }) => {
  const prefix = editedTypes(user);
  if (user === '' || key === null || !key.startsWith(prefix)) return;
  const name = key.slice(prefix.length);
  const work = parse(newValue);
  works = work ? { ...works, [name]: work } : without(name);
});

export function workOf(key: WorkKey): Work | undefined {
  return works[key];
}

/** Each type is stored on its own: tabs that edit different types do not overwrite each other. */
export function setWork(key: WorkKey, work: Work): void {
  works = { ...works, [key]: work };
  const keeps = keepsOnDevice() && differs(work);
  writeLocal(editedTypes(user) + key, keeps ? JSON.stringify(work) : null);
}

export function dropWorks(keys: WorkKey[]): void {
  for (const key of keys) {
    works = without(key);
    writeLocal(editedTypes(user) + key, null);
  }
}

function differs({ draft }: Work): boolean {
  return draft.base === null
    ? draft.properties.length > 0 || string(draft.definition.name) !== ''
    : isChanged(draft);
}

/** Types with changes that are not applied. */
export function changedWorks(): [WorkKey, Work][] {
  return Object.entries(works).filter(([, work]) => differs(work));
}

export const isNewKey = (key: WorkKey): boolean => key.startsWith('+');

/** The key of another new type, also of one that another tab begins. */
export function newKey(): WorkKey {
  return `+${uuid().slice(0, 8)}`;
}
