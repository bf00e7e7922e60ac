// UnsavedWorkStore: stores unsaved work while the user types: within a second in this browser, after a pause on the server.
// Knows both storages; no form.
import { isRetryable } from '../api/problem';
import { session } from '../session/session.svelte';
import { serverNow } from '../value/clock';
import { exactText } from '../value/exact-json';
import { objectSize } from './object-size';
import { deleteUnsavedWork, putUnsavedWork, type UnsavedWork } from './unsaved-work-db';
import type { Creation } from './save-queue';
import { OwnedWorkingCopy } from './owned-working-copy';
import type { CopyContent } from './working-copy';

export interface UnsavedWorkState {
  /** `failed`: what was typed last is neither in this browser nor on the server. */
  status: 'empty' | 'pending' | 'stored' | 'failed';
  /** When the last text was stored. */
  at: number | null;
  /** The browser refuses to store: its storage is full, or forbidden. */
  deviceFailed: boolean;
}

/** The key of unsaved work. `id`: the id of the object, or `~` and a UUID for a new object. `workId`: a UUID. */
export type UnsavedWorkKey = Pick<UnsavedWork, 'user' | 'type' | 'id' | 'workId' | 'tab'>;

/** The time from the first change to storing it in this browser. */
const DEVICE_DELAY_MS = 600;
/** The time from the last change to storing it on the server. */
const SERVER_DELAY_MS = 5000;
/** The longest pause before storing on the server is tried again. */
const MAX_RETRY_DELAY_MS = 60_000;

export class UnsavedWorkStore {
  state: UnsavedWorkState = { status: 'empty', at: null, deviceFailed: false };
  /** While true, nothing is sent: the user has not decided on an earlier copy, or another device has a copy there. */
  deviceOnly = false;
  /** The creation of this object that was sent last; it is stored with the work. */
  creation: UnsavedWork['creation'] | undefined;
  #key: UnsavedWorkKey;
  /**
   * The number of the last edit, and of the edit up to which the work is stored on the device and on the server. A
   * removal is an edit, too: what is on its way then belongs to an earlier one.
   */
  #lastEdit = 0;
  #editOnDevice = 0;
  #editOnServer = 0;
  /** The number of the last edit when the work was last removed, or the screen was left. */
  #clearedEdit = 0;
  #serverFailed = false;
  /** The size of the work that the server has refused as too large; work of this size or more is not sent. */
  #refusedBytes = Infinity;
  #failures = 0;
  #copy: OwnedWorkingCopy;
  /** Whether work is stored that `clear` has to remove. */
  #exists: boolean;
  #deviceTimer: ReturnType<typeof setTimeout> | undefined;
  #serverTimer: ReturnType<typeof setTimeout> | undefined;
  /** Requests follow each other: a removal comes after the write before it. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    key: UnsavedWorkKey,
    /** The unsaved work; null when there is none. */
    private readonly content: () => CopyContent | null,
    private readonly onstate: (state: UnsavedWorkState) => void,
    /** Whether this continues work that is already stored: then `clear` removes that work. */
    exists = false,
    /** See `Opened.copyTag`. */
    copyTag: string | null = null,
  ) {
    this.#key = key;
    this.#exists = exists;
    this.#copy = new OwnedWorkingCopy(key.type, key.id, key.workId, copyTag);
  }

  /** To be called when the work has changed. */
  contentChanged(): void {
    if (this.content() === null) {
      void this.clear();
      return;
    }
    this.#lastEdit += 1;
    this.#deviceTimer ??= setTimeout(() => void this.#storeOnDevice(), DEVICE_DELAY_MS);
    clearTimeout(this.#serverTimer);
    this.#serverTimer = setTimeout(() => void this.#storeOnServer(), SERVER_DELAY_MS);
    this.#report();
  }

  /** Stores now what is not stored yet: the user has left a field, or the screen. */
  async flush(): Promise<void> {
    if (this.#lastEdit === this.#clearedEdit) return;
    await Promise.all([this.#storeOnDevice(), this.#storeOnServer()]);
  }

  /** Stores when the page is hidden or closed: then a response may never arrive. */
  flushOnPageHide(): void {
    const content = this.content();
    if (content === null || this.#lastEdit === this.#clearedEdit) return;
    if (this.#editOnDevice < this.#lastEdit) void this.#storeOnDevice();
    if (this.#editOnServer < this.#lastEdit && !this.deviceOnly && !session.isOtherUser)
      void this.#sendNow(content);
  }

  async #sendNow(content: CopyContent): Promise<void> {
    const edits = this.#lastEdit;
    this.#exists = true;
    if (!(await this.#copy.send(content))) return;
    // This runs only if the page still exists: it was hidden, not closed.
    this.#editOnServer = Math.max(this.#editOnServer, edits);
    this.#report({ at: serverNow() });
  }

  /** Stores what is not stored yet, then nothing more until the next change. */
  async end(): Promise<void> {
    await this.flush();
    this.#reset();
  }

  /** Removes the work: it is saved or discarded. */
  async clear(): Promise<void> {
    this.#reset();
    this.creation = undefined;
    if (this.#exists) {
      this.#exists = false;
      const copy = this.deviceOnly ? null : this.#copy;
      // Not queued: text that is typed while a request is on its way is stored under the same key.
      const deletion = deleteUnsavedWork(this.#key).catch(() => undefined);
      this.#queue = this.#queue.then(async () => {
        await deletion;
        // Another tab may have replaced the copy by its own: that one stays.
        await copy?.remove();
      });
    }
    this.#report();
    await this.#queue;
  }

  /** Removes work of an earlier state, which is discarded, or merged into the form. */
  async deleteFound(workId: string | null): Promise<void> {
    const { user, type, id } = this.#key;
    this.deviceOnly = false;
    const edits = this.#lastEdit;
    await this.flush();
    // The work in the form could be stored nowhere: the earlier work, of which it may have parts, stays.
    if (this.content() !== null && Math.max(this.#editOnDevice, this.#editOnServer) < edits) return;
    this.#queue = this.#queue.then(async () => {
      if (workId !== null) await deleteUnsavedWork({ user, type, id, workId }).catch(() => undefined);
      // The work in the form replaces the copy.
      if (this.content() === null) await this.#copy.remove();
    });
    await this.#queue;
  }

  /** Stores a creation before it is sent. If the page is closed before the response, the next editor repeats it. */
  storeCreation({ key, values }: Creation): void {
    const content = this.content();
    if (content === null) return;
    this.creation = { key, values, text: exactText(values, content.sources ?? []) };
    this.#exists = true;
    void putUnsavedWork(this.#work(content, serverNow())).catch(() => undefined);
  }

  /** From now on, work is stored under this id of the object and this UUID of the work. */
  rename(id: string, workId: string): void {
    this.#key = { ...this.#key, id, workId };
    this.#copy = new OwnedWorkingCopy(this.#key.type, id, workId, null);
  }

  /** Stores the work under another id, then removes it under the old one. */
  async move(id: string, workId: string): Promise<void> {
    const old = this.#key;
    this.rename(id, workId);
    this.#editOnDevice = this.#editOnServer = 0;
    this.#lastEdit += 1;
    await this.flush();
    if (this.state.status === 'stored') await deleteUnsavedWork(old).catch(() => undefined);
  }

  async #storeOnDevice(): Promise<void> {
    clearTimeout(this.#deviceTimer);
    this.#deviceTimer = undefined;
    const content = this.content();
    const edits = this.#lastEdit;
    if (content === null || this.#editOnDevice === edits) return;
    this.#exists = true;
    const savedAt = serverNow();
    try {
      await putUnsavedWork(this.#work(content, savedAt));
      this.#editOnDevice = Math.max(this.#editOnDevice, edits);
      this.#report({ deviceFailed: false, at: savedAt });
    } catch {
      this.#report({ deviceFailed: true });
      // Only the server is left to store the work.
      clearTimeout(this.#serverTimer);
      await this.#storeOnServer();
    }
  }

  #work({ values, base, sources = [] }: CopyContent, savedAt: number): UnsavedWork {
    const synced = this.#editOnServer === this.#lastEdit;
    const text = exactText(values, sources);
    const creation = this.creation && { creation: this.creation };
    return { ...this.#key, values, text, base, savedAt, sentTag: this.#copy.tag, synced, ...creation };
  }

  async #storeOnServer(): Promise<void> {
    clearTimeout(this.#serverTimer);
    const waiting = this.#queue.then(async () => {
      const content = this.content();
      const edits = this.#lastEdit;
      if (content === null || this.deviceOnly || session.isOtherUser || this.#editOnServer === edits) return;
      if (this.#refusedBytes !== Infinity && objectSize(content.values).bytes >= this.#refusedBytes) return;
      this.#exists = true;
      const result = await this.#copy.write(content);
      this.#serverFailed = typeof result === 'object';
      const isTooLarge = typeof result === 'object' && result.problem.status === 413;
      this.#refusedBytes = isTooLarge ? objectSize(content.values).bytes : Infinity;
      // Both stay: the copy of the other device on the server, this work in this browser.
      if (result === 'other-work') this.deviceOnly = true;
      if (result !== 'stored') {
        if (typeof result === 'object' && isRetryable(result.problem)) this.#retryServer();
        this.#report();
        return;
      }
      this.#failures = 0;
      this.#editOnServer = Math.max(this.#editOnServer, edits);
      this.#report({ at: serverNow() });
      // Record in this browser that the server has it.
      if (this.#editOnDevice === edits)
        await putUnsavedWork(this.#work(content, serverNow())).catch(() => undefined);
    });
    this.#queue = waiting;
    await waiting;
  }

  #retryServer(): void {
    const pause = Math.min(SERVER_DELAY_MS * 2 ** this.#failures, MAX_RETRY_DELAY_MS);
    this.#failures += 1;
    clearTimeout(this.#serverTimer);
    this.#serverTimer = setTimeout(() => void this.#storeOnServer(), pause);
  }

  /** Stores nothing more until the next change. */
  #reset(): void {
    clearTimeout(this.#deviceTimer);
    clearTimeout(this.#serverTimer);
    this.#deviceTimer = undefined;
    this.#lastEdit += 1;
    this.#clearedEdit = this.#editOnDevice = this.#editOnServer = this.#lastEdit;
  }

  #report(changes: Partial<UnsavedWorkState> = {}): void {
    const { deviceFailed } = { ...this.state, ...changes };
    const stored = Math.max(this.#editOnDevice, this.#editOnServer) === this.#lastEdit;
    const failed = deviceFailed && (this.#serverFailed || this.deviceOnly || session.isOtherUser);
    const status =
      this.#lastEdit === this.#clearedEdit ? 'empty' : stored ? 'stored' : failed ? 'failed' : 'pending';
    this.state = { ...this.state, ...changes, status };
    this.onstate(this.state);
  }
}
