// The rebuild of the search index that this tab has started: it goes on when the screen is left. Knows no component.
import { sendRequest, api } from '../../api/client';
import type { Problem } from '../../api/problem';

const POLL_MS = 400;

interface Rebuild {
  running: boolean;
  done: number;
  total: number;
  outcome: 'done' | 'failed' | null;
  problem: Problem | null;
}

let state = $state.raw<Rebuild | null>(null);

export const rebuild = {
  get state(): Rebuild | null {
    return state;
  },
};

/** Rebuilds the index of one type, or of all, and follows the job to its end. */
export async function startRebuild(type: string): Promise<void> {
  if (state?.running) return;
  let current: Rebuild = { running: true, done: 0, total: 0, outcome: null, problem: null };
  const set = (changes: Partial<Rebuild>) => (state = current = { ...current, ...changes });
  set({});
  const started = await sendRequest(
    api.POST('/api/v1/internal/reindex', { body: type === '' ? {} : { contentTypes: [type] } }),
  );
  if ('problem' in started) {
    set({ running: false, problem: started.problem });
    return;
  }
  while (current.running) {
    const path = { id: started.data.id };
    const result = await sendRequest(api.GET('/api/v1/internal/job/{id}', { params: { path } }));
    if ('problem' in result) {
      set({ running: false, problem: result.problem });
      return;
    }
    const { state: phase, done, total, error } = result.data;
    const ended = phase !== 'waiting' && phase !== 'running';
    set({ done, total, ...(ended && { running: false, outcome: error ? 'failed' : 'done' }) });
    if (!ended) await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
