// Requests of Home: a few short lists. Knows the API, no component.
import { api, sendOrThrow, type Page, type Schema } from '../../api/client';
import { isPublishing } from '../../object/publish-rules';
import { readWorkflows, transitionsOf } from '../../object/workflows';
import { readHit, searchObjects, type FacetBucket, type SearchHit } from '../../object/search-objects';
import { record, string, type ContentType } from '../../type/definition';
import { exactValue } from '../../value/search-text';

const MAX_ITEMS = 8;
/** Changes of content; sign-ins and management are on the activity screen. */
const CONTENT_ACTIONS = [
  'create',
  'update',
  'delete',
  'restore',
  'publish',
  'unpublish',
  'archive',
  'schedule',
  'unschedule',
  'transition',
  'type.create',
  'type.update',
];
type Options = { signal: AbortSignal };

const UNSAVED_PAGE_SIZE = 50;

/** The newest unsaved work, or a page of all of it. */
export function readUnsaved(
  page: number | null,
  { signal }: Options,
): Promise<Page<Schema['WorkingCopyItem']>> {
  const query = page === null ? { limit: MAX_ITEMS } : { page, limit: UNSAVED_PAGE_SIZE };
  return sendOrThrow<Page<Schema['WorkingCopyItem']>>(
    api.GET('/api/v1/working-copies', { params: { query }, signal }),
  );
}

/** Numbers of objects by type, with one request for all types. */
export async function readCounts({ signal }: Options): Promise<FacetBucket[]> {
  return (await searchObjects({ words: '', limit: 1, facets: true, signal })).types;
}

export async function readChanges({ signal }: Options): Promise<Schema['ActivityPage']['data']> {
  const query = { limit: MAX_ITEMS, 'action[]': CONTENT_ACTIONS };
  return (await sendOrThrow(api.GET('/api/v1/activity', { params: { query }, signal }))).data;
}

export async function readSchedule({ signal }: Options): Promise<Schema['ScheduledObject'][]> {
  const found = await sendOrThrow<Page<Schema['ScheduledObject']>>(
    api.GET('/api/v1/schedule', { params: { query: { limit: MAX_ITEMS } }, signal }),
  );
  return found.data;
}

export interface Waiting extends SearchHit {
  /** State in its workflow. */
  state: string;
}

/** States, except the initial one and `public`, that the user can move objects out of. */
export function waitingStates(workflow: Schema['Workflow'], mayPublish: boolean): string[] {
  const states = transitionsOf(workflow)
    .filter((step) => step.from !== step.to && (mayPublish || !isPublishing(step)))
    .map(({ from }) => from)
    .filter((state) => state !== workflow.initial_state && state !== 'public');
  return [...new Set(states)];
}

/** Objects that wait for a transition by the user, found by one search for each workflow. */
export async function readWaiting(
  types: ContentType[],
  mayPublish: boolean,
  signal: AbortSignal,
): Promise<Waiting[]> {
  const workflows = await readWorkflows({ signal });
  const found = await Promise.all(
    workflows.map(async (workflow) => {
      const states = waitingStates(workflow, mayPublish);
      const used = types.filter((type) => type.workflowId === workflow.id);
      if (used.length === 0 || states.length === 0) return [];
      const query = {
        q: '*',
        limit: MAX_ITEMS,
        'content_type[]': used.map(({ name }) => name),
        'item_fields[]': ['internal'],
        filters: { 'internal.workflowState': states.map(exactValue).join(' OR ') },
        order_by: 'internal.updatedAt',
        order_direction: 'desc' as const,
      };
      return (await sendOrThrow(api.GET('/api/v1/search', { params: { query }, signal }))).data;
    }),
  );
  const waiting = found.flat().map(({ item }) => {
    const internal = record(record(item).internal);
    return { ...readHit(item), state: string(internal.workflowState) ?? '' };
  });
  const newestFirst = waiting.sort((a, b) => String(b.updatedAt).localeCompare(String(a.updatedAt)));
  return newestFirst.slice(0, MAX_ITEMS);
}
