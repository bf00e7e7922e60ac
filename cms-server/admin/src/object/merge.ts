// Three-way merge of an object by top-level property: what two people made of the same state. Plain
// values; knows no request.
import { isEqual } from '../value/equal';
import { changedNames, type Values } from './form-state.svelte';
import { withMember } from '../value/record';

/** A property that both changed, each to another value. */
export interface Conflict {
  name: string;
  before: unknown;
  theirs: unknown;
  mine: unknown;
}

export interface Merge {
  /** Both changes; properties in conflict have my value. */
  values: Values;
  /** Names of the properties that only they changed. */
  theirNames: string[];
  /** Names of the properties that I changed, without those in conflict. */
  myNames: string[];
  conflicts: Conflict[];
}

/** Merges what I and they made of `base`. An absent property is `undefined`. */
export function merge(base: Values, mine: Values, theirs: Values): Merge {
  const result: Merge = { values: theirs, theirNames: [], myNames: [], conflicts: [] };
  const changedByMe = new Set(changedNames(base, mine));
  for (const name of changedNames(base, theirs)) {
    if (!changedByMe.has(name)) result.theirNames.push(name);
    else if (!isEqual(mine[name], theirs[name])) {
      result.conflicts.push({ name, before: base[name], theirs: theirs[name], mine: mine[name] });
    }
  }
  const inConflict = new Set(result.conflicts.map((conflict) => conflict.name));
  result.myNames = [...changedByMe].filter((name) => !inConflict.has(name));
  for (const name of changedByMe) result.values = withMember(result.values, name, mine[name]);
  return result;
}
