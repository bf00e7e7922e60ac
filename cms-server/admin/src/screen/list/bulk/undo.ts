// Undo of an action on several objects. Objects that were changed since then are skipped. Knows the API, no
// component.
import { sendExact, api, type ApiResult, type Page } from '../../../api/client';
import { isRetryable, networkProblem, type Problem } from '../../../api/problem';
import { IDS_PER_REQUEST } from '../../../object/links';
import { statusOf, type Action, type Status } from '../../../object/publish-rules';
import { baseOf, readObject, updateObject, type StoredObject } from '../../../object/object-requests';
import { readVersion } from '../../../object/versions';
import { session } from '../../../session/session.svelte';
import { t } from '../../../text';
import { number } from '../../../text/format';
import { isEqual } from '../../../value/equal';
import { copySourceTexts, isExactly, recordMemberText } from '../../../value/exact-json';
import { partsOf } from '../../../value/list';
import { patchBatch, statusBatch } from './requests';

/** State of an object, as far as undo needs it. */
export interface ObjectState {
  status: Status;
  version: number;
  /** The version that readers have. */
  publicVersion: number;
  /** Values of the properties that are changed. */
  values: Record<string, unknown>;
}

export interface UndoResult {
  undone: number;
  /** Number of objects that have changed since the action. */
  skipped: number;
  /** Number of objects that have unpublished changes, unlike before the action. */
  modified?: number;
  /** Deleted objects that stay in the trash, and why. */
  inTrash?: { id: string; objectTitle: string; problem: Problem }[];
  /** Number of deleted objects that are no longer in the trash. */
  gone?: number;
  /** The first failure. */
  problem: Problem | null;
  /** Responses were lost, so the undo may succeed when it is repeated. */
  canRepeat?: boolean;
}

const STATUS_AFTER: Record<Action, Status> = { publish: 'public', unpublish: 'draft', archive: 'archived' };

/** Reads the current state of objects; `names` are the properties to read. */
export async function readStates(
  type: string,
  ids: string[],
  names: string[],
): Promise<ApiResult<Map<string, ObjectState>>> {
  const before = new Map<string, ObjectState>();
  for (const part of partsOf(ids, IDS_PER_REQUEST)) {
    const query = { limit: 1000, 'fields[]': ['internal', ...names], 'ids[]': part };
    const result = await sendExact<Page<StoredObject>>(
      api.GET('/api/v1/content/{contentType}', {
        params: { path: { contentType: type }, query },
        parseAs: 'text',
      }),
    );
    if ('problem' in result) return result;
    const { data } = result.data;
    recordMemberText(result.data, 'data', data);
    for (const object of data) {
      const { id, internal, ...values } = object;
      copySourceTexts(object, values);
      before.set(id, {
        status: statusOf(internal?.status),
        version: internal?.latestVersion ?? 0,
        publicVersion: internal?.publicVersion ?? -1,
        values,
      });
    }
  }
  return { data: before, etag: null };
}

/** Returns whether an object has all values of a patch. */
export function hasValues({ values }: ObjectState, patch: Record<string, unknown>): boolean {
  return Object.entries(patch).every(([name, value]) => isExactly(values, name, value));
}

/** Returns whether an action made the difference between two states of an object. */
export function isApplied(
  kind: 'patch' | Action,
  patch: Record<string, unknown>,
  before: ObjectState,
  now: ObjectState,
): boolean {
  return kind === 'patch'
    ? now.version === before.version + 1 && hasValues(now, patch)
    : now.version === before.version && now.status === STATUS_AFTER[kind];
}

/** How far the undo of one object is. `changed`: somebody else has changed the object, so it is skipped. */
type Progress = 'pending' | 'undone' | 'changed';

/**
 * Ids of the objects whose undo is pending, and of those that an earlier attempt has undone. `sent` are the objects of
 * earlier attempts, whose responses may be lost; those that are pending are added to it.
 */
async function progressOf(
  type: string,
  changed: ReadonlyMap<string, ObjectState>,
  names: string[],
  sent: Set<string>,
  progress: (before: ObjectState, now: ObjectState, wasSent: boolean) => Progress,
): Promise<ApiResult<Record<Progress, string[]>>> {
  const now = await readStates(type, [...changed.keys()], names);
  if ('problem' in now) return now;
  const found: Record<Progress, string[]> = { pending: [], undone: [], changed: [] };
  for (const [id, before] of changed) {
    const state = now.data.get(id);
    found[state ? progress(before, state, sent.has(id)) : 'changed'].push(id);
  }
  for (const id of found.pending) sent.add(id);
  return { data: found, etag: null };
}

export function notUndone(undone: number, problem: Problem): UndoResult {
  return { undone, skipped: 0, problem, canRepeat: isRetryable(problem) };
}

/** Gives properties their former values, and publishes objects again that had no unpublished changes. */
export async function undoPatch(
  type: string,
  names: string[],
  changed: ReadonlyMap<string, ObjectState>,
  sent: Set<string>,
): Promise<UndoResult> {
  const found = await progressOf(type, changed, names, sent, (before, now, wasSent) => {
    const versions = now.version - before.version;
    if (versions === 1) return 'pending';
    return wasSent && versions === 2 && isEqual(now.values, before.values) ? 'undone' : 'changed';
  });
  if ('problem' in found) return notUndone(0, found.problem);
  const { pending, undone } = found.data;
  const restored = await restoreValues(type, names, pending, changed);
  const published = await publishAgain(type, names, [...pending, ...undone], changed);
  return {
    undone: undone.length + restored.undone,
    skipped: found.data.changed.length,
    modified: published.modified,
    problem: restored.problem ?? published.problem,
    canRepeat: [restored, published].some(({ problem }) => problem !== null && isRetryable(problem)),
  };
}

async function restoreValues(
  type: string,
  names: string[],
  ids: string[],
  changed: ReadonlyMap<string, ObjectState>,
): Promise<Pick<UndoResult, 'undone' | 'problem'>> {
  const result: Pick<UndoResult, 'undone' | 'problem'> = { undone: 0, problem: null };
  const hadAll = ids.filter((id) => names.every((name) => name in (changed.get(id)?.values ?? {})));
  const size = Math.max(1, session.context?.limits.batch ?? 1000);
  for (const part of partsOf(hadAll, size)) {
    const sent = await patchBatch(
      type,
      part.map((id) => withId(id, changed.get(id)?.values ?? {})),
    );
    if ('problem' in sent) return { ...result, problem: sent.problem };
    result.undone += part.length - sent.refused.length;
    const [first] = sent.refused;
    if (first) result.problem ??= refusal(first.errors);
  }
  for (const id of ids.filter((item) => !hadAll.includes(item))) {
    const problem = await removeProperties(type, id, names, (changed.get(id)?.version ?? 0) + 1);
    if (problem) result.problem ??= problem;
    else result.undone += 1;
  }
  return result;
}

/**
 * Publishes objects that were public before an edit and its undo, so that they have no unpublished changes again. An
 * object that has a further version was changed by somebody else: it stays unpublished.
 */
async function publishAgain(
  type: string,
  names: string[],
  ids: string[],
  changed: ReadonlyMap<string, ObjectState>,
): Promise<{ modified: number; problem: Problem | null }> {
  const wasPublic = ids.filter((id) => changed.get(id)?.status === 'public');
  const now = await readStates(type, wasPublic, names);
  if ('problem' in now) return { modified: 0, problem: now.problem };
  /** Versions since the action began; the undo makes the second one. */
  const versions = (id: string) => (now.data.get(id)?.version ?? 0) - (changed.get(id)?.version ?? 0);
  const modified = wasPublic.filter((id) => now.data.get(id)?.status === 'modified' && versions(id) >= 2);
  const isRestored = (id: string) =>
    versions(id) === 2 && isEqual(now.data.get(id)?.values, changed.get(id)?.values);
  const restored = session.mayPublish ? modified.filter(isRestored) : [];
  const { done, problem } = await statusBatches(type, 'publish', restored);
  return { modified: modified.length - done, problem };
}

/** Runs a publishing action on objects, as far as the server accepts it. */
async function statusBatches(
  type: string,
  action: Action,
  ids: string[],
): Promise<{ done: number; problem: Problem | null }> {
  const size = Math.max(1, session.context?.limits.batchPublish ?? 1000);
  for (let at = 0; at < ids.length; at += size) {
    const sent = await statusBatch(type, action, ids.slice(at, at + size));
    if ('problem' in sent) return { done: at, problem: sent.problem };
  }
  return { done: ids.length, problem: null };
}

function withId(id: string, values: Record<string, unknown>): Record<string, unknown> {
  const object = { ...values, id };
  copySourceTexts(values, object);
  return object;
}

/** The problem of an object that somebody else has changed since the action. */
function changedSince(): Problem {
  return { ...networkProblem(), status: 412, message: t.bulk.undoLeft(1, number(1)) };
}

function refusal(fields: Record<string, string[]>): Problem {
  const message = Object.values(fields).flat().join(' ');
  return { ...networkProblem(), status: 400, message, fields };
}

/** Removes properties that an object did not have before the action, which made version `made`. */
async function removeProperties(
  type: string,
  id: string,
  names: string[],
  made: number,
): Promise<Problem | null> {
  const read = await readObject(type, id);
  if ('problem' in read) return read.problem;
  if (read.data.internal?.latestVersion !== made) return changedSince();
  const { values } = baseOf(read.data, null);
  const remaining = Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
  const result = await updateObject(type, id, remaining, read.etag ?? '*', [values]);
  return 'problem' in result ? result.problem : null;
}

/** Restores the status of objects. Edited objects also get back the version that was published. */
export async function undoStatus(
  type: string,
  action: Action,
  changed: ReadonlyMap<string, ObjectState>,
  sent: Set<string>,
): Promise<UndoResult> {
  const after = STATUS_AFTER[action];
  const moved = new Map([...changed].filter(([, { status }]) => status !== after));
  const found = await progressOf(type, moved, [], sent, (before, now, wasSent) => {
    const versions = now.version - before.version;
    if (versions === 0 && now.status === after) return 'pending';
    if (!wasSent) return 'changed';
    if (before.status !== 'modified')
      return versions === 0 && now.status === before.status ? 'undone' : 'changed';
    // `restoreEdited` makes two versions, and continues after the first.
    if (versions === 1) return 'pending';
    return versions === 2 && now.status === 'modified' ? 'undone' : 'changed';
  });
  if ('problem' in found) return notUndone(0, found.problem);
  const { pending, undone } = found.data;
  const skipped = found.data.changed.length;
  const result: UndoResult = { undone: undone.length, skipped, problem: null };
  for (const back of ['publish', 'unpublish', 'archive'] as const) {
    const ids = pending.filter((id) => moved.get(id)?.status === STATUS_AFTER[back]);
    const { done, problem } = await statusBatches(type, back, ids);
    result.undone += done;
    if (problem) return { ...result, problem, canRepeat: isRetryable(problem) };
  }
  for (const id of pending) {
    const before = moved.get(id);
    if (before?.status !== 'modified') continue;
    const problem = await restoreEdited(type, id, before.version, before.publicVersion);
    if (!problem) result.undone += 1;
    else {
      result.problem ??= problem;
      result.canRepeat ||= isRetryable(problem);
    }
  }
  return result;
}

/**
 * Publishes the previously public values as a new version, then restores the edited values as a draft. An earlier
 * attempt may have made that version.
 */
export async function restoreEdited(
  type: string,
  id: string,
  editedVersion: number,
  publicVersion: number,
): Promise<Problem | null> {
  const [edited, shown, current] = await Promise.all([
    readVersion(type, id, editedVersion),
    readVersion(type, id, publicVersion),
    readObject(type, id),
  ]);
  if ('problem' in edited) return edited.problem;
  if ('problem' in shown) return shown.problem;
  if ('problem' in current) return current.problem;
  const { values } = baseOf(shown.data, null);
  if (current.data.internal?.latestVersion === editedVersion) {
    const back = await updateObject(type, id, values, current.etag ?? '*');
    if ('problem' in back) return back.problem;
  } else if (!isEqual(baseOf(current.data, null).values, values)) {
    return changedSince();
  }
  const published = await statusBatch(type, 'publish', [id]);
  if ('problem' in published) return published.problem;
  const now = await readObject(type, id);
  if ('problem' in now) return now.problem;
  const again = await updateObject(type, id, baseOf(edited.data, null).values, now.etag ?? '*');
  return 'problem' in again ? again.problem : null;
}
