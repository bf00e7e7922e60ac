// Edited types that are not applied yet. They stay when the user goes elsewhere or reloads the page, so that
// several types can be changed together. Knows no request and no component.
import { session } from '../../session/session.svelte';
import { string } from '../../type/definition';
import { isChanged, type TypeDraft } from '../../type/type-draft';
import { readLocal, writeLocal } from '../../value/local';
import { isRecord } from '../../value/record';

export interface Work {
  draft: TypeDraft;
  /** Confirmed losses: `type.property` -> number of values that the user has seen. */
  allowed: Record<string, number>;
}

/** Work by the name of its type; `+1` is a new type. */
export type WorkKey = string;

let user = '';
let works = $state.raw<Record<WorkKey, Work>>({});

const nameOf = (id: string) => `cms.types.${id}`;

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
  works = {};
  try {
    const stored: unknown = JSON.parse(readLocal(nameOf(id)) ?? '{}');
    if (isRecord(stored))
      works = Object.fromEntries(
        Object.entries(stored).flatMap(([key, value]) => (isWork(value) ? [[key, value] as const] : [])),
      );
  } catch {
    // Damaged work cannot be shown.
  }
}

function store(changed: Record<WorkKey, Work>): void {
  works = changed;
  const text = JSON.stringify(Object.fromEntries(changedWorks()));
  writeLocal(nameOf(user), text === '{}' ? null : text);
}

export function workOf(key: WorkKey): Work | undefined {
  return works[key];
}

export function setWork(key: WorkKey, work: Work): void {
  store({ ...works, [key]: work });
}

export function dropWorks(keys: WorkKey[]): void {
  store(Object.fromEntries(Object.entries(works).filter(([key]) => !keys.includes(key))));
}

/** Types with changes that are not applied. */
export function changedWorks(): [WorkKey, Work][] {
  return Object.entries(works).filter(([, { draft }]) =>
    draft.base === null
      ? draft.properties.length > 0 || string(draft.definition.name) !== ''
      : isChanged(draft),
  );
}

export const isNewKey = (key: WorkKey): boolean => key.startsWith('+');

/** The key of another new type. */
export function newKey(): WorkKey {
  for (let number = 1; ; number += 1) {
    const key = `+${String(number)}`;
    if (!(key in works)) return key;
  }
}
