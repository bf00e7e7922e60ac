// BulkRun: an action on several objects while it runs: progress, stop, refusals, undo.
import type { ApiResult } from '../../../api/client';
import { isRetryable, networkProblem, type Problem } from '../../../api/problem';
import { session } from '../../../session/session.svelte';
import { partsOf } from '../../../value/list';
import { uuid } from '../../../value/uuid';
import {
  bodyFor,
  onlyChanging,
  readJob,
  readLiveIds,
  runBatch,
  sendRepeatedly,
  startJob,
  stopJob,
  type BatchResult,
  type BulkChange,
  type Refusal,
  type BulkSelection,
} from './requests';
import {
  hasValues,
  isApplied,
  readStates,
  undoPatch,
  undoStatus,
  type ObjectState,
  type UndoResult,
} from './undo';
import { restoreDeleted } from './undo-deletion';

const POLL_MS = 400;

/** Returns whether undo is possible. A job does not report its objects; transitions lead in one direction. */
export function canUndo(change: BulkChange, selection: BulkSelection): boolean {
  return selection.kind === 'rows' && change.kind !== 'transition';
}

export class BulkRun {
  /** `unknown`: a response was lost, and the outcome could not be read. The user reads it again, or leaves it unknown. */
  state: 'running' | 'done' | 'stopped' | 'failed' | 'unknown' = $state('running');
  total = $state(0);
  done = $state(0);
  refused: Refusal[] = $state.raw([]);
  /** Refusals, also those that the report does not list. */
  refusedCount = $state(0);
  /** Objects that had the values already, and stay as they are. */
  unchanged = $state(0);
  problem: Problem | null = $state.raw(null);
  #stopped = false;
  #left = false;
  #job: string | null = null;
  /** Ids of changed objects. */
  #changed: string[] = [];
  #before = new Map<string, ObjectState>();
  /** Ids of objects whose undo was sent to the server. */
  readonly #undoSent = new Set<string>();
  /** Ends the state `unknown`. */
  #decide: (readAgain: boolean) => void = () => undefined;

  constructor(
    private readonly type: string,
    private readonly change: BulkChange,
    private readonly selection: BulkSelection,
    expected: number,
  ) {
    this.total = expected;
  }

  /** Number of changed objects. */
  get succeeded(): number {
    return Math.max(0, this.done - this.refusedCount);
  }

  /** Selected rows are sent in batches. A workflow transition, or everything that matches, is one job. */
  async start(): Promise<void> {
    if (this.selection.kind === 'rows' && this.change.kind !== 'transition') {
      await this.#runRows([...this.selection.rows.keys()]);
    } else {
      await this.#runJob();
    }
  }

  stop(): void {
    this.#stopped = true;
    if (this.#job !== null) void stopJob(this.#job);
  }

  /** Reads an unknown outcome again, and continues. */
  readAgain(): void {
    this.#decide(true);
  }

  /** Leaves an unknown outcome unknown, also if it becomes unknown later. */
  leave(): void {
    this.#left = true;
    this.#decide(false);
  }

  async #runRows(rows: string[]): Promise<void> {
    const size = Math.max(1, session.context?.limits.batch ?? 1000);
    const { kind, patch = {} } = this.change;
    let ids = rows;
    if (kind !== 'delete') {
      const read = await sendRepeatedly(() => readStates(this.type, rows, Object.keys(patch)));
      if ('problem' in read) return this.#fail(read.problem);
      this.#before = read.data;
    }
    if (kind === 'patch') {
      ids = rows.filter((id) => {
        const before = this.#before.get(id);
        return !before || !hasValues(before, patch);
      });
    }
    this.unchanged = rows.length - ids.length;
    this.total = ids.length;
    // Small batches show progress; the limit of the server bounds them.
    const step = Math.min(size, ids.length > 500 ? 250 : 100);
    for (let pending = ids; ;) {
      await this.#runBatches(pending, step);
      const refused = this.refused.map(({ id }) => id);
      // Objects of later batches that linked to these may be deleted now.
      const mayRepeat = kind === 'delete' && refused.length > 0 && refused.length < pending.length;
      if (this.state !== 'running' || !mayRepeat) break;
      pending = refused;
    }
    if (this.state === 'running') this.state = 'done';
  }

  /** Runs batches; refused objects may be among them again. */
  async #runBatches(ids: string[], step: number): Promise<void> {
    for (const part of partsOf(ids, step)) {
      if (this.#stopped) {
        this.state = 'stopped';
        return;
      }
      const result = await this.#batch(part);
      if ('problem' in result) {
        const applied = isRetryable(result.problem) ? await this.#readApplied(part) : [];
        if (applied === null) return;
        this.#changed.push(...applied);
        this.#count(applied, []);
        if (applied.length < part.length) return this.#fail(result.problem);
        continue;
      }
      const refused = new Set(result.refused.map(({ id }) => id));
      this.#changed.push(...part.filter((id) => !refused.has(id)));
      this.#count(part, result.refused);
    }
  }

  /** Counts objects as done, and as refused, if they are. */
  #count(ids: string[], refused: Refusal[]): void {
    const others = this.refused.filter(({ id }) => !ids.includes(id));
    this.done += ids.length - (this.refused.length - others.length);
    this.refused = [...others, ...refused];
    this.refusedCount = this.refused.length;
  }

  /** The server refuses a batch with an unknown id: then it is sent again without deleted objects. */
  async #batch(ids: string[]): Promise<BatchResult> {
    const result = await runBatch(this.type, this.change, ids);
    if (!('problem' in result) || result.problem.status !== 404) return result;
    const live = await readLiveIds(this.type, ids);
    if ('problem' in live) return live;
    const gone = ids
      .filter((id) => !live.data.has(id))
      .map((id) => ({ id, errors: { '': [result.problem.message] } }));
    const liveIds = ids.filter((id) => live.data.has(id));
    if (gone.length === 0) return result;
    if (liveIds.length === 0) return { refused: gone };
    const again = await runBatch(this.type, this.change, liveIds);
    return 'problem' in again ? again : { refused: [...gone, ...again.refused] };
  }

  /** Those of a batch that the server has changed although its response was lost; null if this stays unknown. */
  async #readApplied(ids: string[]): Promise<string[] | null> {
    for (;;) {
      const applied = await sendRepeatedly(() => this.#applied(ids));
      if (!('problem' in applied)) return applied.data;
      if (!(await this.#waitForUser(applied.problem))) return null;
    }
  }

  async #applied(ids: string[]): Promise<ApiResult<string[]>> {
    const { kind, patch = {} } = this.change;
    if (kind === 'transition') return { data: [], etag: null };
    if (kind === 'delete') {
      const live = await readLiveIds(this.type, ids);
      return 'problem' in live ? live : { data: ids.filter((id) => !live.data.has(id)), etag: null };
    }
    const now = await readStates(this.type, ids, Object.keys(patch));
    if ('problem' in now) return now;
    const applied = ids.filter((id) => {
      const [before, state] = [this.#before.get(id), now.data.get(id)];
      return before && state && isApplied(kind, patch, before, state);
    });
    return { data: applied, etag: null };
  }

  /** Reports that the outcome is unknown. Returns whether the user wants to read it again. */
  async #waitForUser(problem: Problem): Promise<boolean> {
    this.problem = problem;
    this.state = 'unknown';
    if (this.#left) return false;
    const again = await new Promise<boolean>((resolve) => {
      this.#decide = resolve;
    });
    if (again) {
      this.problem = null;
      this.state = 'running';
    }
    return again;
  }

  async #runJob(): Promise<void> {
    const all = bodyFor(this.change, this.selection);
    const key = uuid();
    const start = () => startJob(this.type, onlyChanging(all) ?? all, this.total, key);
    let started = await sendRepeatedly(start);
    while ('problem' in started) {
      if (!isRetryable(started.problem)) return this.#fail(started.problem);
      if (!(await this.#waitForUser(started.problem))) return;
      started = await sendRepeatedly(start);
    }
    const id = started.data;
    this.#job = id;
    for (;;) {
      const read = await sendRepeatedly(() => readJob(id));
      if ('problem' in read) {
        if (!isRetryable(read.problem)) return this.#fail(read.problem);
        // The job continues on the server.
        this.problem = read.problem;
        if (this.#stopped && !(await this.#waitForUser(read.problem))) return;
        continue;
      }
      this.problem = null;
      const job = read.data;
      this.total = job.total;
      this.done = job.done;
      this.refusedCount = job.refused;
      this.refused = job.errors ?? [];
      if (job.state === 'done' || job.state === 'stopped') {
        this.state = job.state;
        return;
      }
      if (job.state === 'failed') {
        this.state = 'failed';
        this.problem = { ...networkProblem(), message: job.error ?? '' };
        return;
      }
      if (this.#stopped) await stopJob(started.data);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #fail(problem: Problem): void {
    this.problem = problem;
    this.state = 'failed';
  }

  get canUndo(): boolean {
    return this.#changed.length > 0 && canUndo(this.change, this.selection);
  }

  /** Takes the action back. After lost responses it can be called again. */
  undo(): Promise<UndoResult> {
    const { kind, patch = {} } = this.change;
    const changed = new Map(this.#changed.flatMap((id) => entry(id, this.#before.get(id))));
    switch (kind) {
      case 'patch':
        return undoPatch(this.type, Object.keys(patch), changed, this.#undoSent);
      case 'publish':
      case 'unpublish':
      case 'archive':
        return undoStatus(this.type, kind, changed, this.#undoSent);
      default:
        return restoreDeleted(this.type, this.#changed);
    }
  }
}

function entry(id: string, before: ObjectState | undefined): [string, ObjectState][] {
  return before ? [[id, before]] : [];
}
