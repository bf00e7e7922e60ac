// One open object: the last known stored state, what the user made of it, and saving. Knows requests and
// the form of values; no component and no address.
import type { FieldErrors, Problem } from '../api/problem';
import { formFor, may } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import { Draft, type Values } from './draft.svelte';
import { baseOf, createObject, updateObject, type StoredObject } from './store';

export type EditorState = 'idle' | 'saving' | 'failed';

/** What the editor reports to the screen. */
export interface EditorEvents {
  /** The object was saved as this version. */
  saved: (version: number) => void;
  /** A new object got its id. */
  created: (id: string) => void;
}

export class ObjectEditor {
  readonly type: ContentType;
  /** Id of the object; null before it is created. */
  id: string | null = $state(null);
  /** The last known stored object, with `internal`. */
  object: StoredObject | null = $state.raw(null);
  readonly draft: Draft;
  state: EditorState = $state('idle');
  /** Why the last save was refused. */
  problem: Problem | null = $state.raw(null);

  readonly readonly: boolean = $derived.by(() => !may(this.id === null ? 'c' : 'u', this.type.name));
  readonly errors: FieldErrors = $derived(this.problem?.fields ?? {});
  /** The title of the object as the form has it; empty when no part of it is set. */
  readonly title: string = $derived.by(() => {
    const parts = formFor(this.type).fields.filter((field) => field.title);
    const texts = parts.map((field) => this.draft.mine[field.name]);
    return texts.filter((part) => typeof part === 'string').join(' ');
  });

  readonly #events: EditorEvents;
  readonly #creationKey = crypto.randomUUID();

  constructor(type: ContentType, object: StoredObject | null, etag: string | null, events: EditorEvents) {
    this.type = type;
    this.#events = events;
    this.object = object;
    this.id = object?.id ?? null;
    const base = object && baseOf(object, etag);
    this.draft = new Draft(base, base?.values ?? defaultsOf(type));
  }

  /** Saves the changes, if there are any; false when that failed, which the form shows. */
  async save(): Promise<boolean> {
    const { base, mine } = this.draft;
    if (base !== null && !this.draft.isChanged) return true;
    if (this.state === 'saving') return false;
    this.state = 'saving';
    this.problem = null;
    const result =
      base === null || this.id === null
        ? await createObject(this.type.name, mine, this.#creationKey)
        : await updateObject(this.type.name, this.id, mine, base.etag ?? '*');
    if ('problem' in result) {
      this.state = 'failed';
      this.problem = result.problem;
      return false;
    }
    this.state = 'idle';
    const created = this.id === null;
    this.adopt(result.data, result.etag);
    this.#events.saved(this.draft.base?.version ?? 0);
    if (created) this.#events.created(result.data.id);
    return true;
  }

  /** The stored object after another action, such as publishing. Unsaved changes are kept. */
  adopt(object: StoredObject, etag: string | null): void {
    const unsaved = Object.fromEntries(this.draft.changed.map((name) => [name, this.draft.mine[name]]));
    this.object = object;
    this.id = object.id;
    this.draft.base = baseOf(object, etag);
    this.draft.mine = this.draft.base.values;
    this.putIntoForm(unsaved);
  }

  /** Sets properties as an unsaved change; `undefined` removes one. */
  putIntoForm(values: Partial<Values>): void {
    for (const [name, value] of Object.entries(values)) this.draft.set(name, value);
  }
}

/** Values of a new object. */
export function defaultsOf(type: ContentType): Values {
  const fields = formFor(type).fields.filter((field) => field.default !== undefined);
  return Object.fromEntries(fields.map((field) => [field.name, field.default]));
}
