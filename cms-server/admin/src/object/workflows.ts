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
