// One open object: the last known stored state, what the user made of it, saving, and what others did
// meanwhile. Knows requests and the form of values; no component and no address.
import type { FieldErrors, Problem } from '../api/problem';
import { formFor, loadSession, may, session } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import { isEqual } from '../value/equal';
import { uuid } from '../value/uuid';
import { Draft, type Values } from './draft.svelte';
import { defaultsOf, errorsOf, titleOf } from './form-values';
import { Keeper, type KeepState } from './keeper';
import { readLater, type Decision, type EditorEvents, type Gone, type Later, type Others } from './later';
import { merge, type Merge } from './merge';
import { newWorkId, type Found, type Opened } from './open';
import { mayRepeat, MOST_ATTEMPTS, SaveQueue, type QueueState, type Write } from './save-queue';
import * as store from './store';
import { baseOf, type StoredObject } from './store';

export type EditorState = 'idle' | 'saving' | 'waiting' | 'failed';

export class ObjectEditor {
  type: ContentType;
  /** Id of the object; null before it is created. */
  id: string | null = $state(null);
  /** The last known stored object, with `internal`. */
  object: StoredObject | null = $state.raw(null);
  readonly draft: Draft;
  /** Why the last save was refused; validation errors are in `errors`. */
  problem: Problem | null = $state.raw(null);
  errors: FieldErrors = $state.raw({});
  queue: QueueState = $state.raw({ busy: false, retry: null });
  keeping: KeepState = $state.raw({ status: 'empty', at: null, deviceFailed: false });
  /** When the unsaved work in the form was stored that this screen started with. */
  restoredAt: number | null = $state(null);
  /** Unsaved work of an earlier state, which is not in the form. */
  stale: Found | null = $state.raw(null);
  later: Later | null = $state.raw(null);
  decision: Decision | null = $state.raw(null);
  /** The object was deleted; null inside when it is not known by whom. */
  gone: Gone | null = $state.raw(null);

  readonly state: EditorState = $derived.by(() => {
    if (this.queue.busy) return 'saving';
    if (this.queue.retry) return 'waiting';
    return this.problem ? 'failed' : 'idle';
  });
  readonly readonly: boolean = $derived.by(() => {
    if (!may(this.id === null ? 'c' : 'u', this.type.name)) return true;
    return this.object?.internal?.workflowState === 'public' && !session.mayPublish;
  });
  /** The title of the object as the form has it; empty when no part of it is set. */
  readonly title = $derived.by(() => titleOf(formFor(this.type), this.draft.mine));

  /** The property in which the user is. */
  focused: string | null = $state(null);

  /** Id under which unsaved work is stored. */
  workId: string;
  readonly keeper: Keeper;
  readonly #events: EditorEvents;
  readonly #queue: SaveQueue;
  /** The user has tried to save: then all validation errors are shown. */
  #tried = false;
  #saving: Promise<boolean> | null = null;
  #checks = 0;
  #reads = 0;

  constructor(type: ContentType, opened: Opened, tab: string, events: EditorEvents) {
    this.type = $state.raw(type);
    this.#events = events;
    this.object = opened.object;
    this.id = opened.object?.id ?? (opened.deleted ? opened.workId : null);
    this.workId = opened.workId;
    const base = opened.object ? baseOf(opened.object, opened.etag) : (opened.found?.base ?? null);
    this.draft = new Draft(base, defaultsOf(formFor(type)));
    const send = (write: Write) => store.send(this.type.name, write);
    this.#queue = new SaveQueue(this.id, base, send, (state) => (this.queue = state));
    const { found } = opened;
    const isStale = found !== null && !found.current;
    const work = (isStale ? null : found?.work) ?? uuid();
    const name = { user: session.context?.user.id ?? '', type: type.name, id: this.workId, work, tab };
    const content = () => (this.draft.isChanged ? { values: this.draft.mine, base: this.draft.base } : null);
    const report = (state: KeepState) => (this.keeping = state);
    this.keeper = new Keeper(name, content, report, found !== null && !isStale, opened.copy);
    if (isStale) {
      this.stale = found;
      this.keeper.deviceOnly = true;
    } else if (found) {
      this.draft.mine = found.values;
      this.restoredAt = found.savedAt;
    }
    if (opened.deleted) void this.#lost();
  }

  /** Saves the changes, if there are any; false when that failed, which the form shows. */
  save(): Promise<boolean> {
    if (this.#saving) {
      // An attempt that waits takes the newest text; what is on its way is followed by another request.
      if (this.state === 'waiting') void this.#queue.save(this.draft.mine);
      return this.#saving.then(() => this.save());
    }
    this.#saving = this.#save().finally(() => (this.#saving = null));
    return this.#saving;
  }

  tryNow(): void {
    this.#queue.tryNow();
  }

  async #save(): Promise<boolean> {
    if (this.id !== null && !this.draft.isChanged) return true;
    if (this.readonly || this.gone) return false;
    this.problem = null;
    this.#tried = true;
    let others: Others | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#queue.save(this.draft.mine);
      if ('stopped' in outcome) return false;
      if ('saved' in outcome) {
        this.#stored(outcome.saved, outcome.etag, outcome.values, others);
        return true;
      }
      const { refused } = outcome;
      // A state that is always another one is an error between here and the server, such as changed tags.
      if (refused.status === 412 && attempt < MOST_ATTEMPTS) {
        others = await this.#mergeLater();
        if (others === null) return false;
        if (this.draft.isChanged) continue;
        // The state of the server is what was to be saved: the response of an earlier attempt was lost.
        this.#afterSave(null);
        return true;
      }
      if (refused.status === 404 && this.id !== null) await this.#lost();
      else this.problem = refused;
      this.errors = refused.fields;
      if (refused.status === 403) void loadSession();
      return false;
    }
  }

  #stored(object: StoredObject, etag: string | null, sent: Values, others: Others | null): void {
    const created = this.id === null;
    const base = baseOf(object, etag);
    this.object = store.withAuthors(object, this.object, session.context?.user);
    this.id = object.id;
    // What was typed while the request was on its way is an unsaved change of the new state.
    this.draft.mine = merge(sent, this.draft.mine, base.values).values;
    this.draft.base = base;
    this.#afterSave(others);
    if (!created) return;
    void this.keeper.forget();
    this.workId = object.id;
    this.keeper.rename(object.id, uuid());
    this.keep();
    this.#events.created(object.id);
  }

  #afterSave(others: Others | null): void {
    this.errors = {};
    this.#tried = false;
    this.later = null;
    this.restoredAt = null;
    this.keep();
    this.#events.saved(this.draft.base?.version ?? 0, others);
  }

  /** Merges a later state after a 412; null when the user has to decide, or it cannot be read. */
  async #mergeLater(): Promise<Others | null> {
    const later = await this.#readLaterToSave();
    if (!later) return null;
    const merged = this.#merged(later.object);
    if (merged.conflicts.length > 0) {
      this.later = later;
      this.decision = { merge: merged, later, reason: 'save' };
      return null;
    }
    this.#take(later, merged.values);
    return later.others;
  }

  /** As the save that it belongs to: repeated until there is a definite response. */
  async #readLaterToSave(): Promise<Later | null> {
    const later = await this.#queue.repeat(() => this.#readLater());
    if (!later || !('problem' in later)) return later;
    // Given up while it waited: then there is no problem any more.
    if (!mayRepeat(later.problem)) this.problem = later.problem;
    return null;
  }

  /** The current state; null when there is none any more. */
  async #readLater(): Promise<Later | { problem: Problem } | null> {
    if (this.id === null) return null;
    const later = await readLater(this.type.name, this.id, this.draft.base);
    if (!('problem' in later) || later.problem.status !== 404) return later;
    await this.#lost();
    return null;
  }

  #merged(object: StoredObject): Merge {
    return merge(this.draft.base?.values ?? {}, this.draft.mine, baseOf(object, null).values);
  }

  #take(later: { object: StoredObject; etag: string | null }, mine: Values): void {
    const base = baseOf(later.object, later.etag);
    this.object = later.object;
    this.#queue.rebase(later.object.id, base);
    this.draft.base = base;
    this.draft.mine = mine;
    this.later = null;
    this.keep();
  }

  async #lost(): Promise<void> {
    this.gone ??= { deletion: null };
    const deletion = this.id === null ? null : await store.readDeletion(this.type.name, this.id);
    this.gone = { deletion };
  }

  /** Sets properties as an unsaved change; `undefined` removes one. */
  putIntoForm(values: Partial<Values>): void {
    for (const [name, value] of Object.entries(values)) this.draft.set(name, value);
    this.keep();
  }

  /** The form has changed, or has been saved. */
  keep(): void {
    if (!this.stale || this.draft.isChanged) this.keeper.touch();
  }

  /** Something happened to the object on the server: reads it, if it is not what the form knows. */
  async refresh(): Promise<void> {
    this.#reads += 1;
    const read = this.#reads;
    if (this.#saving) await this.#saving;
    if (this.id === null || this.gone) return;
    const { base } = this.draft;
    const later = await this.#readLater();
    if (read !== this.#reads) return;
    if (later && 'problem' in later) {
      // Without a response the next save finds out. A right that was lost shows in the form.
      if (later.problem.status === 403) void loadSession();
      return;
    }
    // The form has got another state meanwhile: this one may be older.
    if (later && (this.#saving || this.draft.base !== base)) return this.refresh();
    if (!later || later.etag === base?.etag) return;
    if (later.others.names.length === 0) this.#take(later, this.#merged(later.object).values);
    else if (!this.draft.isChanged || later.others.converted) this.#takeOrAsk(later);
    else this.later = later;
  }

  /** Takes a later state into the form, unless the user changed the same values. */
  #takeOrAsk(later: Later): void {
    const merged = this.#merged(later.object);
    if (merged.conflicts.length > 0) {
      this.later = later;
      return;
    }
    this.#take(later, merged.values);
    this.#events.updated(later.others);
  }

  /** Merges the later state into the form; conflicts become a decision. */
  mergeLater(): void {
    const { later } = this;
    if (!later) return;
    const merged = this.#merged(later.object);
    if (merged.conflicts.length > 0) this.decision = { merge: merged, later, reason: 'later' };
    else this.#take(later, merged.values);
  }

  /** Ends a decision with a value for each property in conflict. */
  async decide(choices: Values): Promise<void> {
    const { decision } = this;
    if (!decision) return;
    this.decision = null;
    if (decision.reason !== 'found') this.#take(decision.later, decision.merge.values);
    else this.draft.mine = decision.merge.values;
    this.putIntoForm(choices);
    if (decision.reason === 'found') await this.#dropStale();
    if (decision.reason === 'save') await this.save();
  }

  /** The unsaved work of an earlier state, merged with what the form shows. */
  mergeStale(): void {
    const { stale, object } = this;
    if (!stale || !object) return;
    const merged = merge(stale.base?.values ?? {}, stale.values, this.draft.mine);
    const others = { by: [], version: this.draft.base?.version ?? 0, names: merged.theirs, converted: false };
    const later = { object, etag: this.draft.base?.etag ?? null, others };
    this.decision = { merge: merged, later, reason: 'found' };
  }

  async #dropStale(): Promise<void> {
    const { stale } = this;
    this.stale = null;
    this.keeper.deviceOnly = false;
    await this.keeper.dropFound(stale?.work ?? null);
    this.keep();
  }

  /** Puts the stored object back into the form; unsaved work is removed. */
  async discard(): Promise<void> {
    if (this.stale) return this.#dropStale();
    this.#queue.cancel();
    this.draft.mine = this.draft.start;
    this.restoredAt = null;
    this.problem = null;
    this.errors = {};
    await this.keeper.forget();
  }

  /** Brings the deleted object back; the changes stay in the form. */
  async restore(): Promise<void> {
    const entry = this.gone?.deletion?.entry;
    if (entry === undefined || this.id === null) return;
    this.problem = await store.restoreObject(entry);
    if (this.problem) return;
    this.gone = null;
    const result = await store.readObject(this.type.name, this.id);
    if ('problem' in result) this.problem = result.problem;
    else this.#take({ object: result.data, etag: result.etag }, this.#merged(result.data).values);
  }

  /** Saves what the form has of a deleted object as a new one. */
  async saveAsNew(): Promise<boolean> {
    this.gone = this.id = this.object = null;
    this.draft.base = null;
    this.#queue.forget();
    // When saving is refused, the work is that on a new object.
    this.workId = newWorkId();
    await this.keeper.move(this.workId, uuid());
    this.#events.detached(this.workId);
    return this.save();
  }

  /** Checks the values without saving. Before the first try only changed properties show their errors. */
  async check(): Promise<void> {
    if (this.readonly || !this.draft.isChanged || this.#saving || this.gone) return;
    this.#checks += 1;
    const { mine } = this.draft;
    const check = this.#checks;
    const problem = await store.validate(this.type.name, this.id, mine);
    if (check !== this.#checks || this.draft.mine !== mine || this.#saving) return;
    if (problem && problem.status !== 400) return;
    const { fields = {} } = problem ?? {};
    this.errors = this.#tried ? fields : errorsOf(this.draft.changed, fields);
    if (this.problem?.status === 400 && !problem) this.problem = null;
  }

  /** The definition of the type has changed. */
  async retype(type: ContentType): Promise<void> {
    if (isEqual(type, this.type)) return;
    this.type = type;
    await this.refresh();
  }

  /** The screen is left: nothing more is sent but what is already typed. */
  async close(): Promise<void> {
    await this.keeper.end();
  }
}
