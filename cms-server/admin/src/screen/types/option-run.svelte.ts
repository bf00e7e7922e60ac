// Replaces removed options in objects after a type has changed: starts jobs on the server, sums their progress, and
// reports what they refused. Imports no component.
import { ProblemError } from '../../api/problem';
import { t } from '../../text';
import { number } from '../../text/format';
import { toast } from '../../ui/toasts.svelte';
import type { BulkRun } from '../list/bulk/bulk-run.svelte';
import { startChange, type OptionChange } from './lost-options';

const MAX_ATTEMPTS = 5;

export class OptionRun {
  running = $state(false);
  #runs: BulkRun[] = $state.raw([]);
  readonly done = $derived(this.#runs.reduce((sum, run) => sum + run.done, 0));
  readonly total = $derived(this.#runs.reduce((sum, run) => sum + run.total, 0));

  /** Starts all jobs together. The server runs them one after the other, even after this page is closed. */
  async run(changes: OptionChange[]): Promise<void> {
    if (changes.length === 0) return;
    this.running = true;
    this.#runs = [];
    const succeeded = await Promise.all(changes.map((change) => this.#change(change, changes)));
    this.running = false;
    const sum = succeeded.reduce((all, count) => all + count, 0);
    if (sum > 0) toast(t.typeEdits.optionsChanged(sum, number(sum)));
  }

  /** Carries out one change; returns how many objects got the new option. */
  async #change(change: OptionChange, all: OptionChange[], attempt = 1): Promise<number> {
    try {
      const run = await startChange(change, all);
      if (!run) return 0;
      this.#runs = [...this.#runs, run];
      await run.start();
      // The job of another option, which makes this change too, has changed some of the counted objects meanwhile.
      if (run.problem?.status === 409 && attempt < MAX_ATTEMPTS) {
        this.#runs = this.#runs.filter((other) => other !== run);
        return await this.#change(change, all, attempt + 1);
      }
      const left = run.total - run.succeeded;
      const about = t.typeEdits.optionsRefused(left, number(left), change.option.label);
      if (left > 0) toast([about, run.problem?.message].filter(Boolean).join(' '), { kind: 'danger' });
      return run.succeeded;
    } catch (error) {
      const message = error instanceof ProblemError ? error.problem.message : '';
      toast(`${change.option.label}: ${message || t.common.offline}`, { kind: 'danger' });
      return 0;
    }
  }
}
