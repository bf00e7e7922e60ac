// Run: an action on several objects while it is carried out: progress, stop, refusals, undo.
import type { Problem } from '../../../api/problem';
import { session } from '../../../session/session.svelte';
import {
  bodyFor,
  existing,
  patchBatch,
  readJob,
  removeProperties,
  restoreDeleted,
  runBatch,
  startJob,
  stopJob,
  valuesBefore,
  type BatchResult,
  type Plan,
  type Refusal,
  type Target,
} from './requests';

const POLL_MS = 400;

export class Run {
  state: 'running' | 'done' | 'stopped' | 'failed' = $state('running');
  total = $state(0);
  done = $state(0);
  refused: Refusal[] = $state.raw([]);
  /** Refusals, also those that the report does not list. */
  refusedCount = $state(0);
  problem: Problem | null = $state.raw(null);
  #stopped = false;
  #job: string | null = null;
  /** Ids that were changed. */
  #changed: string[] = [];
  #before = new Map<string, Record<string, unknown>>();

  constructor(
    private readonly type: string,
    private readonly plan: Plan,
    private readonly target: Target,
    expected: number,
  ) {
    this.total = expected;
  }

  /** How many objects were changed. */
  get succeeded(): number {
    return Math.max(0, this.done - this.refusedCount);
  }

  /** Selected rows are sent in batches; workflow transitions and everything that matches are one job. */
  async start(): Promise<void> {
    if (this.target.kind === 'rows' && this.plan.kind !== 'transition') {
      await this.#runRows([...this.target.rows.keys()]);
    } else {
      await this.#runJob();
    }
  }

  stop(): void {
    this.#stopped = true;
    if (this.#job !== null) void stopJob(this.#job);
  }

  async #runRows(ids: string[]): Promise<void> {
    const size = Math.max(1, session.context?.limits.batch ?? 1000);
    const names = Object.keys(this.plan.patch ?? {});
    if (this.plan.kind === 'patch') {
      const before = await valuesBefore(this.type, ids, names);
      if ('problem' in before) return this.#fail(before.problem);
      this.#before = before.data;
    }
    // Small batches show progress; the limit of the server bounds them.
    const step = Math.min(size, ids.length > 500 ? 250 : 100);
    for (let at = 0; at < ids.length; at += step) {
      if (this.#stopped) {
        this.state = 'stopped';
        return;
      }
      const part = ids.slice(at, at + step);
      const result = await this.#batch(part);
      if ('problem' in result) return this.#fail(result.problem);
      const refused = new Set(result.refused.map(({ id }) => id));
      this.#changed.push(...part.filter((id) => !refused.has(id)));
      this.refused = [...this.refused, ...result.refused];
      this.refusedCount = this.refused.length;
      this.done += part.length;
    }
    this.state = 'done';
  }

  /** An unknown id refuses a whole batch: then it is sent again without the objects that are gone. */
  async #batch(ids: string[]): Promise<BatchResult> {
    const result = await runBatch(this.type, this.plan, ids);
    if (!('problem' in result) || result.problem.status !== 404) return result;
    const live = await existing(this.type, ids);
    if ('problem' in live) return live;
    const gone = ids
      .filter((id) => !live.data.has(id))
      .map((id) => ({ id, errors: { '': [result.problem.message] } }));
    const rest = ids.filter((id) => live.data.has(id));
    if (gone.length === 0) return result;
    if (rest.length === 0) return { refused: gone };
    const again = await runBatch(this.type, this.plan, rest);
    return 'problem' in again ? again : { refused: [...gone, ...again.refused] };
  }

  async #runJob(): Promise<void> {
    const started = await startJob(this.type, bodyFor(this.plan, this.target), this.total);
    if ('problem' in started) return this.#fail(started.problem);
    this.#job = started.data;
    for (;;) {
      const read = await readJob(started.data);
      if ('problem' in read) return this.#fail(read.problem);
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
        this.problem = { ...NO_PROBLEM, message: job.error ?? '' };
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
    const { kind } = this.plan;
    return this.#changed.length > 0 && (kind === 'delete' || kind === 'patch');
  }

  /** Takes the action back; returns what failed. */
  async undo(): Promise<Problem | null> {
    if (this.plan.kind === 'delete') return (await restoreDeleted(this.type, this.#changed)).problem;
    const names = Object.keys(this.plan.patch ?? {});
    const had = this.#changed.filter((id) => names.every((name) => name in (this.#before.get(id) ?? {})));
    const step = Math.max(1, session.context?.limits.batch ?? 1000);
    for (let at = 0; at < had.length; at += step) {
      const values = had.slice(at, at + step).map((id) => ({ ...this.#before.get(id), id }));
      const result = await patchBatch(this.type, values);
      if ('problem' in result) return result.problem;
    }
    for (const id of this.#changed.filter((item) => !had.includes(item))) {
      const problem = await removeProperties(this.type, id, names);
      if (problem) return problem;
    }
    return null;
  }
}

const NO_PROBLEM: Problem = {
  status: 0,
  message: '',
  fields: {},
  requestId: null,
  retryAfter: null,
  data: null,
};
