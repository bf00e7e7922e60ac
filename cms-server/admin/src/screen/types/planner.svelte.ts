// The plan of edited types: requested after a pause, never twice at the same time, and applied with its token.
// Sends requests; imports no component.
import type { Progress } from '../../api/progress';
import type { Problem } from '../../api/problem';
import type { Json } from '../../type/property-draft';
import { requestApply, requestPlan, type Plan } from './requests';

/** The pause after the last edit; plans that take long wait longer, so that typing does not start several. */
const PLAN_DELAY_MS = 400;
const MAX_PLAN_DELAY_MS = 1500;

export type ApplyOutcome = { applied: Plan } | { stale: true } | { refused: Problem };

export class Planner {
  plan: Plan | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);
  /** When the running request began; null: none runs. */
  since: number | null = $state(null);
  /** Milliseconds that the last plan took: the same work as an apply, without storing it. */
  took = $state(0);
  /** Progress of the running request; null if it is not known. */
  progress: Progress | null = $state.raw(null);
  applying = $state(false);
  stopped = $state(false);
  #body: string | null = $state(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  /** Returns whether the plan was computed from these definitions. */
  isFor(body: string): boolean {
    return this.plan !== null && this.#body === body;
  }

  /** Computes the plan after a pause; a running request is aborted. */
  schedule(
    body: string,
    definitions: Json[],
    pause = Math.max(PLAN_DELAY_MS, Math.min(this.took, MAX_PLAN_DELAY_MS)),
  ): void {
    this.cancel();
    this.stopped = false;
    if (this.isFor(body) && this.problem === null) return;
    this.#timer = setTimeout(() => void this.#request(body, definitions), pause);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    this.since = null;
  }

  stop(): void {
    this.cancel();
    this.stopped = true;
  }

  async #request(body: string, definitions: Json[]): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    const start = Date.now();
    this.since = start;
    this.progress = null;
    try {
      const result = await requestPlan(definitions, running.signal, (progress) => {
        if (this.#running === running) this.progress = progress;
      });
      if (this.#running !== running) return;
      if ('problem' in result) this.problem = result.problem;
      else {
        this.problem = null;
        this.took = Date.now() - start;
        this.plan = result.data;
        this.#body = body;
      }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
    if (this.#running !== running) return;
    this.#running = null;
    this.since = null;
  }

  /** Applies the plan as it is shown. A stale plan is computed again. */
  async apply(body: string, definitions: Json[], allowed: string[]): Promise<ApplyOutcome | null> {
    if (!this.plan || !this.isFor(body) || this.applying) return null;
    this.applying = true;
    this.since = Date.now();
    this.progress = null;
    const result = await requestApply(definitions, this.plan.token, allowed, (progress) => {
      this.progress = progress;
    });
    this.applying = false;
    this.since = null;
    if (!('problem' in result)) return { applied: result.data };
    const { problem } = result;
    // Only a new plan shows whether the server completed an interrupted apply.
    if (problem.status === 0) this.#body = null;
    if (problem.status !== 409 && problem.status !== 400) return { refused: problem };
    // The new plan shows what is different, such as blockers and losses.
    await this.#request(body, definitions);
    return { stale: true };
  }
}
