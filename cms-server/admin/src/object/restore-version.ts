// Restoring an earlier version: the comparison screen hands the values over, and the form of the object takes
// them when it opens. Imports no component.
import type { Field } from '../type/form';
import { copySourceTexts } from '../value/exact-json';
import { isEqual } from '../value/equal';
import type { Values } from './form-state.svelte';
import { withNewNames } from './renamed-values';

interface Restored {
  type: string;
  id: string;
  version: number;
  values: Partial<Values>;
}

let waiting: Restored | null = null;

/** Keeps values for the form of an object, which opens next. */
export function offerRestoredValues(restored: Restored): void {
  waiting = restored;
}

/** Takes the values that wait for an object. */
export function takeRestoredValues(type: string, id: string | null): Restored | null {
  const restored = waiting;
  waiting = null;
  return restored && restored.type === type && restored.id === id ? restored : null;
}

/** The values that make a form equal to an earlier version: properties it did not have are removed. */
export function valuesOfVersion(now: Values, version: Values, fields: Field[]): Partial<Values> {
  const then = withNewNames(fields, version);
  const names = new Set([...Object.keys(now), ...Object.keys(then)]);
  const values = Object.fromEntries([...names].map((name) => [name, then[name]]));
  copySourceTexts(then, values);
  return values;
}

/** The values that undo a restore: those of `before`, for the properties not edited since the restore. */
export function valuesBefore(now: Values, restored: Partial<Values>, before: Values): Partial<Values> {
  const names = Object.keys(restored).filter((name) => isEqual(now[name], restored[name]));
  return Object.fromEntries(names.map((name) => [name, before[name]]));
}
