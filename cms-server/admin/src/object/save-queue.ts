// Saves one object with one request at a time. Each request replaces the state that the previous response
// returned. A request without a definite response is repeated. Knows no Svelte; the caller passes
// the function that sends a request.
import type { ApiResult } from '../api/client';
import { isRetryable, networkProblem, type Problem } from '../api/problem';
import { t } from '../text';
import { isEqual } from '../value/equal';
import type { Base, Values } from './form-state.svelte';
import { baseOf, type StoredObject } from './object-requests';
import { isRecord } from '../value/record';
import { uuid } from '../value/uuid';

/** Sends one write. An update replaces the state `etag`; a creation has an idempotency key. */
export type SendSave = (write: SaveRequest) => Promise<ApiResult<StoredObject>>;
/** A creation, which a repetition with the same key and values does not carry out again. */
export interface Creation {
  values: Values;
  key: string;
}
export type SaveRequest =
  ({ kind: 'create' } & Creation) | { kind: 'update'; id: string; values: Values; etag: string };

export type SaveOutcome =
  | { saved: StoredObject; etag: string | null; values: Values }
  | { refused: Problem }
  /** The user has discarded the changes. */
  | { cancelled: true };

export interface QueueState {
  /** A request is on its way. */
  busy: boolean;
  /** The last request had no definite response: when it is repeated, and why. */
  retry: { at: number; problem: Problem } | null;
}

/** Maximum number of writes for one save by the editor, if other people's changes come first each time. Writes
 *  without a definite response are repeated without limit. */
export const MAX_ATTEMPTS = 4;
/** Statuses that show that the server has not carried out the write, so that it may be repeated. */
const NOT_WRITTEN_STATUSES = [429, 503];
const RETRY_DELAYS_SECONDS = [2, 4, 8, 16, 32, 60];

function isProblem(result: unknown): result is { problem: Problem } {
  return isRecord(result) && 'problem' in result;
}

/** Seconds before the next attempt: what the server asks for, else longer each time. */
function retryDelay(problem: Problem, failures: number): number {
  const own = RETRY_DELAYS_SECONDS[Math.min(failures, RETRY_DELAYS_SECONDS.length - 1)] ?? 60;
  return problem.retryAfter === null ? own : Math.max(1, problem.retryAfter);
}

interface PendingSave {
  values: Values;
  done: ((outcome: SaveOutcome) => void)[];
}

export class SaveQueue {
  state: QueueState = { busy: false, retry: null };
  #base: Base | null;
  #id: string | null;
  #pending: PendingSave | null = null;
  #running = false;
  #waiting = false;
  #cancelled = false;
  /** The creation that was sent last. If the server may have written it, it is repeated unchanged, before anything
   *  else is sent. */
  #creation: (Creation & { mayExist: boolean }) | null;
  /** Values of updates of `#base` that the server may have carried out although no response arrived. */
  readonly #unconfirmed = new Set<Values>();
  #wake: () => void = () => undefined;

  constructor(
    id: string | null,
    base: Base | null,
    private readonly send: SendSave,
    private readonly onstate: (state: QueueState) => void = () => undefined,
    /** A creation that was sent before the page was loaded, and that the server may have carried out. */
    creation: Creation | null = null,
  ) {
    this.#id = id;
    this.#base = base;
    this.#creation = creation && { ...creation, mayExist: true };
  }

  /** Sets the stored state that the next write replaces. */
  rebase(id: string, base: Base): void {
    this.#id = id;
    this.#base = base;
    this.#unconfirmed.clear();
  }

  /** Returns whether values are those of an update whose response did not arrive. */
  mayHaveWritten(values: Values): boolean {
    return [...this.#unconfirmed].some((sent) => isEqual(sent, values));
  }

  /** Saves values after those that are being saved. Newer values replace those that wait. */
  save(values: Values): Promise<SaveOutcome> {
    return new Promise((done) => {
      this.#pending = { values, done: [...(this.#pending?.done ?? []), done] };
      this.retryNow();
      void this.#run();
    });
  }

  /** Repeats a request that belongs to a save, until there is a definite response or the save is cancelled. */
  async repeat<T>(
    request: () => Promise<T | { problem: Problem } | null>,
  ): Promise<T | { problem: Problem } | null> {
    for (let failures = 0; ; failures += 1) {
      const result = await request();
      if (!isProblem(result) || !isRetryable(result.problem)) return result;
      this.#cancelled = false;
      this.#waiting = true;
      await this.#pause(retryDelay(result.problem, failures), result.problem);
      this.#waiting = false;
      this.#report({ busy: false, retry: null });
      if (!this.#cancelled) continue;
      this.#cancelled = false;
      return result;
    }
  }

  /** Ends the pause before a repetition. */
  retryNow(): void {
    this.#wake();
  }

  /** Cancels what waits for another attempt. A request that is on its way is not aborted. */
  cancel(): void {
    this.#cancelled = this.#running || this.#waiting;
    this.#wake();
  }

  /** Makes the next write create an object, because the old one was deleted. */
  startCreation(): void {
    this.#id = null;
    this.#base = null;
    this.#creation = null;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let next = this.#takePending(); next; next = this.#takePending()) {
      const outcome = await this.#sendUntilDefinite(next);
      for (const done of next.done) done(outcome);
    }
    this.#running = false;
    this.#cancelled = false;
    this.#report({ busy: false, retry: null });
  }

  #takePending(): PendingSave | null {
    const next = this.#pending;
    this.#pending = null;
    return next;
  }

  /** Sends until there is a definite response. Newer values replace those that wait for the next attempt. */
  async #sendUntilDefinite(pending: PendingSave): Promise<SaveOutcome> {
    for (let failures = 0; ;) {
      if (this.#cancelled) return { cancelled: true };
      this.#report({ busy: true, retry: this.state.retry });
      const write = this.#requestFor(pending.values);
      if (write === null) return { refused: { ...networkProblem(), status: 428, message: t.writing.noTag } };
      const result = await this.send(write);
      if (!('problem' in result)) {
        this.#creation = null;
        this.rebase(result.data.id, baseOf(result.data, result.etag));
        if (isEqual(write.values, pending.values)) {
          return { saved: result.data, etag: result.etag, values: pending.values };
        }
        // A repeated creation with older values succeeded: send the newest values as an update.
        failures = 0;
        continue;
      }
      if (!isRetryable(result.problem)) {
        this.#creation = null;
        // The older values of a repeated creation do not exist: the newest ones are another creation.
        if (write.kind === 'create' && !isEqual(write.values, pending.values)) continue;
        return { refused: result.problem };
      }
      const mayBeWritten = !NOT_WRITTEN_STATUSES.includes(result.problem.status);
      if (mayBeWritten && write.kind === 'update') this.#unconfirmed.add(write.values);
      if (this.#creation && mayBeWritten) this.#creation.mayExist = true;
      // If no attempt so far can have created the object, the next one creates it with the newest values.
      if (!this.#creation?.mayExist) this.#creation = null;
      await this.#pause(retryDelay(result.problem, failures), result.problem);
      failures += 1;
      const newer = this.#takePending();
      if (newer) {
        pending.values = newer.values;
        pending.done.push(...newer.done);
      }
    }
  }

  /** Null when the state that the write replaces is not known: it could overwrite the work of others. */
  #requestFor(values: Values): SaveRequest | null {
    if (this.#id !== null && this.#base !== null) {
      const { etag } = this.#base;
      return etag === null ? null : { kind: 'update', id: this.#id, values, etag };
    }
    this.#creation ??= { values, key: uuid(), mayExist: false };
    return { kind: 'create', values: this.#creation.values, key: this.#creation.key };
  }

  #pause(seconds: number, problem: Problem): Promise<void> {
    this.#report({ busy: false, retry: { at: Date.now() + seconds * 1000, problem } });
    return new Promise((done) => {
      const timer = setTimeout(done, seconds * 1000);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        done();
      };
      if (this.#cancelled || this.#pending) this.#wake();
    });
  }

  #report(state: QueueState): void {
    this.state = state;
    this.onstate(state);
  }
}
