// Workflows of the server. Knows requests, no screen.
import { api, sendOrThrow, type Schema } from '../api/client';

export type Workflow = Schema['Workflow'];

export interface Transition {
  name: string;
  from: string;
  to: string;
}

/** All workflows; the API has them on one page. */
export async function readWorkflows({ signal }: { signal?: AbortSignal } = {}): Promise<Workflow[]> {
  const found = await sendOrThrow(api.GET('/api/v1/workflow', signal ? { signal } : {}));
  return found.data;
}

/** The transitions of a workflow, one for each state that they begin in. */
export function transitionsOf(workflow: Workflow | undefined): Transition[] {
  return (workflow?.transitions ?? []).flatMap(({ name, froms, tos }) =>
    froms.map((from) => ({ name, from, to: tos[0] ?? '' })),
  );
}

/** Returns whether transitions lead back, directly or over other states, to the state that a transition leaves. */
export function leadsBack({ from, to }: Transition, transitions: Transition[]): boolean {
  const reached = new Set([to]);
  // A set is iterated over elements that are added meanwhile, too.
  for (const state of reached) for (const next of transitions) if (next.from === state) reached.add(next.to);
  return reached.has(from);
}
