// The state of an object form: what the server has (base), and what the user has made of it (mine).
// Knows no control and no request.
import { untrack } from 'svelte';
import type { Field } from '../type/form';
import { isEqual } from '../value/equal';
import { withNewNames } from './renamed-values';
import { UploadGroup } from './upload-group';
import { withMember } from '../value/record';

export type Values = Record<string, unknown>;

/** A stored object, without `internal`. */
export interface Base {
  values: Values;
  etag: string | null;
  version: number;
}

export class FormState {
  /** The stored object; null before it is created. */
  base: Base | null = $state.raw(null);
  /** Values as the user sees them. A property that is left out is not stored. */
  mine: Values = $state.raw({});
  /** Names of the top-level properties that differ from the stored object. */
  readonly changed: string[] = $derived.by(() => changedNames(this.start, this.mine));

  /** The uploads of the controls: a file becomes a value of the form when it is stored. */
  readonly uploads = new UploadGroup();
  /** Files for the form are being uploaded: nothing is saved or published without them. */
  readonly isUploading: boolean = $derived.by(() => this.uploads.running > 0);

  #incompleteDates = $state(0);
  /** A date is typed only in part: it is no value yet, and nothing is saved or published without it. */
  readonly hasIncompleteDate: boolean = $derived.by(() => this.#incompleteDates > 0);

  readonly #defaults: Values;
  /** Values of other states that were put into the form: versions, unsaved work. */
  readonly #others: Values[] = [];

  /** `defaults`: values of a new object. */
  constructor(base: Base | null, defaults: Values) {
    this.#defaults = defaults;
    this.base = base;
    this.mine = this.start;
  }

  /** The values without changes of the user. */
  get start(): Values {
    return this.base?.values ?? this.#defaults;
  }

  /** Values as read from the server: a request sends the JSON text of an unchanged value as it was received. */
  get sources(): Values[] {
    return [this.start, ...this.#others];
  }

  /** What is to be stored as unsaved work; null when nothing is changed. */
  get unsaved(): { values: Values; base: Base | null; sources: Values[] } | null {
    return this.isChanged ? { values: this.mine, base: this.base, sources: this.sources } : null;
  }

  /** Marks that a date is incomplete, until the returned function is called. */
  markIncomplete(): () => void {
    untrack(() => (this.#incompleteDates += 1));
    return () => void (this.#incompleteDates -= 1);
  }

  addSource(values: Values): void {
    this.#others.push(values);
  }

  get isChanged(): boolean {
    return this.changed.length > 0;
  }

  /** Sets a property; `undefined` removes it. */
  set(name: string, value: unknown): void {
    this.mine = withMember(this.mine, name, value);
  }

  /** Continues under the names that the properties have in `fields`. */
  rename(fields: Field[]): void {
    if (this.base) this.base = { ...this.base, values: withNewNames(fields, this.base.values) };
    this.mine = withNewNames(fields, this.mine);
  }

  /** Puts a property back to its stored value. */
  reset(name: string): void {
    this.set(name, this.start[name]);
  }
}

/** Names of the properties whose values differ, in the order of the first object, then the second. */
export function changedNames(before: Values, after: Values): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isEqual(before[name], after[name]));
}
