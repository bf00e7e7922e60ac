// Saving one object: one request at a time, each in the state that the previous response gave; requests
// without a definite response are repeated. Plain code with the request as a function.
import type { Answer } from '../api/client';
import { networkProblem, type Problem } from '../api/problem';
import { t } from '../text';
import { isEqual } from '../value/equal';
import type { Base, Values } from './draft.svelte';
import { baseOf, type StoredObject } from './store';
import { isRecord } from '../value/record';
import { uuid } from '../value/uuid';

/** Sends one write: with `id` a replacement of the state `etag`, else a creation with `key`. */
export type Send = (write: Write) => Promise<Answer<StoredObject>>;
export type Write =
  | { kind: 'create'; values: Values; key: string }
  | { kind: 'update'; id: string; values: Values; etag: string };

export type Outcome =
  | { saved: StoredObject; etag: string | null; values: Values }
  | { refused: Problem }
  /** It was given up. */
  | { stopped: true };

export interface QueueState {
  /** A request is on its way. */
  busy: boolean;
  /** The last request had no definite response: when it is repeated, and why. */
  retry: { at: number; problem: Problem } | null;
}

/** Writes of one save that changes of others may outrun. */
export const MOST_ATTEMPTS = 4;
const RETRY_SECONDS = [2, 4, 8, 16, 32, 60];

/** Tells whether a write may succeed without a change of it. */
export function mayRepeat(problem: Problem): boolean {
  return problem.status === 0 || problem.status >= 500 || problem.status === 429;
}

function isProblem(result: unknown): result is { problem: Problem } {
  return isRecord(result) && 'problem' in result;
}

/** Seconds before the next attempt: what the server asks for, else longer each time. */
function pauseAfter(problem: Problem, failures: number): number {
  const own = RETRY_SECONDS[Math.min(failures, RETRY_SECONDS.length - 1)] ?? 60;
  return problem.retryAfter === null ? own : Math.max(1, problem.retryAfter);
}

interface Wanted {
  values: Values;
  done: ((outcome: Outcome) => void)[];
}

export class SaveQueue {
  state: QueueState = { busy: false, retry: null };
  #base: Base | null;
  #id: string | null;
  #wanted: Wanted | null = null;
  #running = false;
  #waiting = false;
  #stopped = false;
  /** A creation whose response may have been lost: it is repeated exactly before anything else. */
  #creation: { values: Values; key: string } | null = null;
  #wake: () => void = () => undefined;

  constructor(
    id: string | null,
    base: Base | null,
    private readonly send: Send,
    private readonly onstate: (state: QueueState) => void = () => undefined,
  ) {
    this.#id = id;
    this.#base = base;
  }

  /** The stored state that the next write starts from. */
  rebase(id: string, base: Base): void {
    this.#id = id;
    this.#base = base;
  }

  /** Saves values after those that are being saved. Newer values replace those that wait. */
  save(values: Values): Promise<Outcome> {
    return new Promise((done) => {
      this.#wanted = { values, done: [...(this.#wanted?.done ?? []), done] };
      this.tryNow();
      void this.#run();
    });
  }

  /** Repeats a request that belongs to a save, until there is a definite response or it is given up. */
  async repeat<T>(
    request: () => Promise<T | { problem: Problem } | null>,
  ): Promise<T | { problem: Problem } | null> {
    for (let failures = 0; ; failures += 1) {
      const result = await request();
      if (!isProblem(result) || !mayRepeat(result.problem)) return result;
      this.#stopped = false;
      this.#waiting = true;
      await this.#pause(pauseAfter(result.problem, failures), result.problem);
      this.#waiting = false;
      this.#report({ busy: false, retry: null });
      if (this.#stopped) return result;
    }
  }

  /** Ends the pause before a repetition. */
  tryNow(): void {
    this.#wake();
  }

  /** Gives up what waits for another attempt. A request that is on its way is not taken back. */
  cancel(): void {
    this.#stopped = this.#running || this.#waiting;
    this.#wake();
  }

  /** The object is gone: the next write creates one. */
  forget(): void {
    this.#id = null;
    this.#base = null;
    this.#creation = null;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let next = this.#take(); next; next = this.#take()) {
      const outcome = await this.#carryOut(next);
      for (const done of next.done) done(outcome);
    }
    this.#running = false;
    this.#stopped = false;
    this.#report({ busy: false, retry: null });
  }

  #take(): Wanted | null {
    const next = this.#wanted;
    this.#wanted = null;
    return next;
  }

  /** Sends until there is a definite response. Newer values join while it waits. */
  async #carryOut(wanted: Wanted): Promise<Outcome> {
    for (let failures = 0; ;) {
      if (this.#stopped) return { stopped: true };
      this.#report({ busy: true, retry: this.state.retry });
      const write = this.#write(wanted.values);
      if (write === null) return { refused: { ...networkProblem(), status: 428, message: t.writing.noTag } };
      const result = await this.send(write);
      if (!('problem' in result)) {
        this.#creation = null;
        this.rebase(result.data.id, baseOf(result.data, result.etag));
        if (isEqual(write.values, wanted.values)) {
          return { saved: result.data, etag: result.etag, values: wanted.values };
        }
        // The creation was an earlier one: now what was wanted.
        failures = 0;
        continue;
      }
      if (!mayRepeat(result.problem)) {
        this.#creation = null;
        return { refused: result.problem };
      }
      await this.#pause(pauseAfter(result.problem, failures), result.problem);
      failures += 1;
      const newer = this.#take();
      if (newer) {
        wanted.values = newer.values;
        wanted.done.push(...newer.done);
      }
    }
  }

  /** Null when the state that the write replaces is not known: it could overwrite the work of others. */
  #write(values: Values): Write | null {
    if (this.#id !== null && this.#base !== null) {
      const { etag } = this.#base;
      return etag === null ? null : { kind: 'update', id: this.#id, values, etag };
    }
    this.#creation ??= { values, key: uuid() };
    return { kind: 'create', ...this.#creation };
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
      if (this.#stopped || this.#wanted) this.#wake();
    });
  }

  #report(state: QueueState): void {
    this.state = state;
    this.onstate(state);
  }
}
