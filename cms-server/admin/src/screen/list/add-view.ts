// Saves a new view of a list. Knows requests.
import { api, sendRequest } from '../../api/client';
import { ProblemError, type Problem } from '../../api/problem';
import { session } from '../../session/session.svelte';
import { isEqual } from '../../value/equal';
import { changeOwnListSettings, readShared } from './views.svelte';

type Stored = { id: string } | { problem: Problem };

/** A view that is not stored yet. */
export interface NewView {
  /** Used if it is not shared. */
  id: string;
  name: string;
  definition: Record<string, unknown>;
  share: boolean;
  /** An earlier attempt failed: its response may have been lost. */
  repeated: boolean;
}

/** Saves a new view, once although the request is repeated; returns its id. */
export async function addView(type: string, view: NewView): Promise<Stored> {
  const { id, name, definition, share, repeated } = view;
  if (share) {
    const stored = repeated ? await findShared(type, name, definition) : null;
    if (stored) return stored;
    const result = await sendRequest(
      api.POST('/api/v1/internal/contenttype/{contentType}/views', {
        params: { path: { contentType: type } },
        body: { name, definition },
      }),
    );
    return 'problem' in result ? result : { id: result.data.id };
  }
  const own = { id, name, definition, shared: false, by: null };
  const problem = await changeOwnListSettings(type, (item) => ({
    ...item,
    views: [...item.views.filter((other) => other.id !== id), own],
  }));
  return problem ? { problem } : { id };
}

/** Finds a view that this user has shared; null if there is none. */
async function findShared(type: string, name: string, definition: object): Promise<Stored | null> {
  try {
    const all = await readShared(type);
    const user = session.context?.by.id;
    return (
      all.find((view) => view.by === user && view.name === name && isEqual(view.definition, definition)) ??
      null
    );
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem };
    throw error;
  }
}
