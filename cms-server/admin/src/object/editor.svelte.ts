// ObjectEditor: one open object with its stored state, the changes of the user, saving, and merging newer
// versions. Knows requests and the form of values; no component and no URL.
import { isRetryable, type FieldErrors, type Problem } from '../api/problem';
import { formFor, isReadonlyState, loadSession, may, session } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import { isEqual } from '../value/equal';
import { uuid } from '../value/uuid';
import { FormState, type Values } from './form-state.svelte';
import { defaultsOf, errorsOf, titleOf } from './form-values';
import type { UnsavedWorkStore, UnsavedWorkState } from './unsaved-work';
import { hasUnknownProperty, readNewerVersion, reloadType, type EditorEvents } from './newer-version';
import type { DeletedObject, MergeConflict, NewerVersion, RemoteChanges } from './newer-version';
import { merge, type Merge } from './merge';
import { newObjectKey } from './new-object-key';
import type { FoundWork, Opened } from './open-object';
import { workWithNewNames } from './renamed-values';
import { MAX_ATTEMPTS, SaveQueue, type QueueState, type SaveRequest } from './save-queue';
import * as requests from './object-requests';
import { baseOf, type StoredObject } from './object-requests';
import { continueWork } from './continued-work';
import { staleWorkConflict } from './stale-work';
import { fieldErrors, valueProblem } from './value-problem';

export type EditorState = 'idle' | 'saving' | 'waiting' | 'failed';

export class ObjectEditor {
  type: ContentType;
  /** Id of the object; null before it is created. */
  id: string | null = $state(null);
  /** The last known stored object, with `internal`. */
  object: StoredObject | null = $state.raw(null);
  readonly formState: FormState;
  /** Why the last save was refused; validation errors are in `errors`. */
  problem: Problem | null = $state.raw(null);
  errors: FieldErrors = $state.raw({});
  queue: QueueState = $state.raw({ busy: false, retry: null });
  unsavedState: UnsavedWorkState = $state.raw({ status: 'empty', at: null, deviceFailed: false });
  /** When the unsaved work in the form was stored, if the form was opened with such work. */
  restoredWorkSavedAt: number | null = $state(null);
  /** Unsaved work of an earlier state, which is not in the form. */
  staleWork: FoundWork | null = $state.raw(null);
  newerVersion: NewerVersion | null = $state.raw(null);
  mergeConflict: MergeConflict | null = $state.raw(null);
  /** Set when the object was deleted; its `deletion` is null when author and time are not known. */
  deleted: DeletedObject | null = $state.raw(null);

  readonly state: EditorState = $derived.by(() => {
    if (this.queue.busy) return 'saving';
    return this.queue.retry ? 'waiting' : this.problem ? 'failed' : 'idle';
  });
  readonly readonly: boolean = $derived.by(() => {
    if (!may(this.id === null ? 'c' : 'u', this.type.name)) return true;
    return isReadonlyState(this.object?.internal?.workflowState);
  });
  /** The title of the object as the form has it; empty when no part of it is set. */
  readonly title = $derived.by(() => titleOf(formFor(this.type), this.formState.mine));

  /** Changes of others that the last save merged; null when it saved only what the form showed before. */
  lastMerge: RemoteChanges | null = $state.raw(null);

  /** The property in which the user is. */
  focused: string | null = $state(null);

  /** See `Opened.objectKey`. */
  objectKey: string;
  readonly unsavedWork: UnsavedWorkStore;
  readonly #events: EditorEvents;
  readonly #queue: SaveQueue;
  /** The user has tried to save: then all validation errors are shown. */
  #tried = false;
  #saving: Promise<boolean> | null = null;
  #reads = 0;

  constructor(type: ContentType, opened: Opened, tab: string, events: EditorEvents) {
    this.type = $state.raw(type);
    this.#events = events;
    this.object = opened.object;
    this.id = opened.object?.id ?? (opened.deleted ? opened.objectKey : null);
    this.objectKey = opened.objectKey;
    const base = opened.object ? baseOf(opened.object, opened.etag) : (opened.found?.base ?? null);
    this.formState = new FormState(base, defaultsOf(formFor(type).fields));
    const send = (write: SaveRequest) => {
      if (write.kind === 'create') this.unsavedWork.storeCreation(write);
      return requests.sendSave(this.type.name, write, this.formState.sources);
    };
    this.#queue = new SaveQueue(this.id, base, send, (state) => (this.queue = state), opened.found?.creation);
    const work = continueWork(type, opened, tab, this.formState, (state) => (this.unsavedState = state));
    this.unsavedWork = work.store;
    this.staleWork = work.stale;
    this.restoredWorkSavedAt = work.restoredSavedAt;
    if (opened.deleted) void this.#markDeleted();
  }

  /** Saves the changes, if there are any; false when that failed, which the form shows. */
  save(): Promise<boolean> {
    if (this.#saving) {
      // If the save waits for a retry, this sends the newest values. After a running request, it is saved again.
      if (this.state === 'waiting') void this.#queue.save(this.formState.mine);
      return this.#saving.then(() => this.save());
    }
    this.#saving = this.#save().finally(() => (this.#saving = null));
    return this.#saving;
  }

  retryNow(): void {
    this.#queue.retryNow();
  }

  async #save(): Promise<boolean> {
    this.lastMerge = null;
    if (this.id !== null && !this.formState.isChanged) return true;
    // A file that is still being uploaded would be missing in what is saved.
    if (this.readonly || this.deleted || this.formState.isUploading) return false;
    this.#tried = true;
    this.problem = await valueProblem(this.type, this.id, this.formState);
    this.errors = this.problem?.fields ?? this.errors;
    if (this.problem) return false;
    let remote: RemoteChanges | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#queue.save(this.formState.mine);
      if ('cancelled' in outcome) return false;
      if ('saved' in outcome) {
        this.#applySaved(outcome.saved, outcome.etag, outcome.values, remote);
        this.lastMerge = remote;
        return true;
      }
      const { refused } = outcome;
      // After MAX_ATTEMPTS, changes by other people no longer explain the 412: perhaps a proxy changes ETags.
      if (refused.status === 412 && attempt < MAX_ATTEMPTS) {
        const { mine } = this.formState;
        const merged = await this.#mergeNewerVersion();
        if (merged === null) return false;
        if (merged !== 'own') remote = merged;
        if (this.formState.isChanged) continue;
        if (!isEqual(mine, this.formState.mine)) this.lastMerge = remote;
        // The server has all of the form already, for example if the response of an earlier attempt was lost.
        this.#afterSave(null);
        return true;
      }
      if (refused.status === 404 && this.id !== null) await this.#markDeleted();
      else this.problem = refused;
      this.errors = refused.fields;
      if (refused.status === 403) void loadSession();
      return false;
    }
  }

  #applySaved(object: StoredObject, etag: string | null, sent: Values, remote: RemoteChanges | null): void {
    const created = this.id === null;
    const base = baseOf(object, etag);
    this.object = requests.withAuthors(object, this.object, session.context?.user);
    this.id = object.id;
    // What was typed while the request was on its way is an unsaved change of the new state.
    this.formState.mine = merge(sent, this.formState.mine, base.values).values;
    this.formState.base = base;
    this.#afterSave(remote);
    if (!created) return;
    void this.unsavedWork.clear();
    this.objectKey = object.id;
    this.unsavedWork.rename(object.id, uuid());
    this.storeUnsavedWork();
    this.#events.created(object.id);
  }

  #afterSave(remote: RemoteChanges | null): void {
    this.errors = {};
    this.#tried = false;
    this.newerVersion = null;
    this.restoredWorkSavedAt = null;
    this.storeUnsavedWork();
    this.#events.saved(this.formState.base?.version ?? 0, remote);
  }

  /**
   * Merges a later state after a 412; null when the user has to decide, or it cannot be read. `own`: it is that of an
   * own save whose response did not arrive.
   */
  async #mergeNewerVersion(): Promise<RemoteChanges | 'own' | null> {
    // Retried like the save itself, until a response settles it.
    const newer = await this.#queue.repeat(() => this.#readNewerVersion());
    if (!newer || 'problem' in newer) {
      // A problem that can be retried means that the save was cancelled meanwhile: it is not shown.
      if (newer && !isRetryable(newer.problem)) this.problem = newer.problem;
      return null;
    }
    if (this.#queue.mayHaveWritten(baseOf(newer.object, null).values)) {
      // What differs from it was typed since.
      this.#adopt(newer, this.formState.mine);
      return 'own';
    }
    this.newerVersion = newer;
    return this.#adoptOrResolve(newer, 'save') ? newer.remoteChanges : null;
  }

  /** Takes a later state into the form; false if the user has to resolve conflicts first. */
  #adoptOrResolve(newer: NewerVersion, reason: MergeConflict['reason']): boolean {
    const merged = this.#mergeWith(newer.object);
    if (merged.conflicts.length > 0) this.mergeConflict = { merge: merged, newerVersion: newer, reason };
    else this.#adopt(newer, merged.values);
    return merged.conflicts.length === 0;
  }

  /** Reads the current state; null if the object is new or deleted. */
  async #readNewerVersion(): Promise<NewerVersion | { problem: Problem } | null> {
    if (this.id === null) return null;
    const newer = await readNewerVersion(this.type.name, this.id, this.formState.base);
    if ('problem' in newer) {
      if (newer.problem.status !== 404) return newer;
      await this.#markDeleted();
      return null;
    }
    // The type has changed, and the page has not noticed yet: perhaps a property was renamed.
    const isNewType = hasUnknownProperty(newer, formFor(this.type).fields);
    const type = isNewType ? await reloadType(this.type.name) : undefined;
    return type && this.#useType(type) ? this.#readNewerVersion() : newer;
  }

  #mergeWith(object: StoredObject): Merge {
    return merge(this.formState.base?.values ?? {}, this.formState.mine, baseOf(object, null).values);
  }

  /** The values that a save would store: the form, merged with a newer version if one is known. */
  get valuesToSave(): Values {
    return this.newerVersion ? this.#mergeWith(this.newerVersion.object).values : this.formState.mine;
  }

  #adopt(newer: { object: StoredObject; etag: string | null }, mine: Values): void {
    const base = baseOf(newer.object, newer.etag);
    this.object = newer.object;
    this.#queue.rebase(newer.object.id, base);
    this.formState.base = base;
    this.formState.mine = mine;
    this.newerVersion = null;
    this.storeUnsavedWork();
  }

  async #markDeleted(): Promise<void> {
    this.deleted ??= { deletion: null };
    if (this.id !== null) this.deleted = { deletion: await requests.readDeletion(this.type.name, this.id) };
  }

  /** Sets properties as an unsaved change; `undefined` removes one. */
  setValues(values: Partial<Values>): void {
    this.formState.addSource(values);
    for (const [name, value] of Object.entries(values)) this.formState.set(name, value);
    this.storeUnsavedWork();
  }

  /** To be called after each change of the form, and after a save. */
  storeUnsavedWork(): void {
    this.unsavedWork.contentChanged();
  }

  /**
   * The object may have changed on the server: reads it, unless it is new. A newer version is taken into the form or
   * offered to the user. A deleted object may have been restored.
   */
  async refresh(): Promise<void> {
    this.#reads += 1;
    const read = this.#reads;
    if (this.#saving) await this.#saving;
    if (this.id === null) return;
    const { base } = this.formState;
    const newer = await this.#readNewerVersion();
    if (read !== this.#reads) return;
    if (newer && 'problem' in newer) {
      // Without a response, the next save reports the problem. A lost right makes the form read-only.
      if (newer.problem.status === 403) void loadSession();
      return;
    }
    // The form has got another state since the request: the response may be older.
    if (newer && (this.#saving || this.formState.base !== base)) return this.refresh();
    if (!newer) return;
    this.deleted = null;
    if (newer.etag === base?.etag) return;
    if (newer.remoteChanges.names.length === 0) this.#adopt(newer, this.#mergeWith(newer.object).values);
    else if (!this.formState.isChanged || newer.remoteChanges.converted) this.#adoptOrAsk(newer);
    else this.newerVersion = newer;
  }

  /** Takes a later state into the form, unless the user changed the same values. */
  #adoptOrAsk(newer: NewerVersion): void {
    const merged = this.#mergeWith(newer.object);
    this.newerVersion = newer;
    if (merged.conflicts.length > 0) return;
    this.#adopt(newer, merged.values);
    this.#events.updated(newer.remoteChanges);
  }

  /** Merges the later state into the form; conflicts become a decision. */
  mergeNewerVersion(): void {
    if (this.newerVersion) this.#adoptOrResolve(this.newerVersion, 'newer-version');
  }

  /** Resolves a merge conflict with a value for each property in conflict. */
  async resolveConflicts(choices: Values): Promise<void> {
    const conflict = this.mergeConflict;
    if (!conflict) return;
    // While the dialog was open, the form may have changed: by an upload that ended, or by a newer version.
    const now =
      conflict.reason === 'unsaved-work'
        ? staleWorkConflict(this.staleWork, this.object, this.formState)
        : { ...conflict, merge: this.#mergeWith(conflict.newerVersion.object) };
    const isSame = isEqual(now?.merge.conflicts, conflict.merge.conflicts);
    this.mergeConflict = isSame ? null : now;
    if (!isSame) return;
    if (now?.reason === 'unsaved-work') this.formState.mine = now.merge.values;
    else if (now) this.#adopt(now.newerVersion, now.merge.values);
    this.setValues(choices);
    if (conflict.reason === 'unsaved-work') await this.discardStaleWork();
    if (conflict.reason === 'save') await this.save();
  }

  /** Merges the unsaved work of an earlier state with the form; the user resolves the conflicts. */
  mergeStaleWork(): void {
    this.mergeConflict = staleWorkConflict(this.staleWork, this.object, this.formState);
  }

  /** Removes the unsaved work of an earlier state; the form stays as it is. */
  async discardStaleWork(): Promise<void> {
    const { staleWork } = this;
    this.staleWork = null;
    await this.unsavedWork.deleteFound(staleWork?.workId ?? null);
    this.storeUnsavedWork();
  }

  /** Puts the stored object back into the form; unsaved work is removed, except that of an earlier state. */
  async discard(): Promise<void> {
    this.#queue.cancel();
    this.formState.mine = this.formState.start;
    this.restoredWorkSavedAt = null;
    this.problem = null;
    this.errors = {};
    await this.unsavedWork.clear();
  }

  /** Restores the deleted object; the changes stay in the form. */
  async restore(): Promise<void> {
    const entry = this.deleted?.deletion?.entry;
    if (entry === undefined || this.id === null) return;
    this.problem = await requests.restoreObject(entry);
    // 404: somebody else has restored it.
    if (this.problem && this.problem.status !== 404) return;
    await this.refresh();
    if (!this.deleted) this.problem = null;
  }

  /** Saves the values that the form has of a deleted object as a new object. */
  async saveAsNew(): Promise<boolean> {
    this.deleted = this.id = this.object = null;
    this.formState.base = null;
    this.#queue.startCreation();
    // If the save fails, this is unsaved work on a new object.
    this.objectKey = newObjectKey();
    await this.unsavedWork.move(this.objectKey, uuid());
    this.#events.detached(this.objectKey);
    return this.save();
  }

  /** Checks the values without saving. Before the first try only changed properties show their errors. */
  async check(): Promise<void> {
    if (this.readonly || this.#saving || this.deleted) return;
    const { mine, isChanged } = this.formState;
    if (!isChanged && isEqual(this.errors, {})) return;
    // Values that are the stored ones again have no errors.
    const fields = isChanged || !this.id ? await fieldErrors(this.type, this.id, this.formState) : {};
    if (fields === null || this.formState.mine !== mine || this.#saving) return;
    this.errors = this.#tried ? fields : errorsOf(this.formState.changed, fields);
    if (this.problem?.status === 400 && Object.keys(fields).length === 0) this.problem = null;
  }

  /** Takes over a changed definition of the type, and reads the object again. */
  async setType(type: ContentType): Promise<void> {
    if (this.#useType(type)) await this.refresh();
  }

  /** Returns whether the definition has changed. */
  #useType(type: ContentType): boolean {
    if (isEqual(type, this.type)) return false;
    this.type = type;
    const { fields } = formFor(type);
    this.formState.rename(fields);
    if (this.staleWork) this.staleWork = workWithNewNames(fields, this.staleWork);
    return true;
  }
}
