// Actions on an open object beside saving: publishing, schedule, workflow, copy, deletion. Each reads the
// object again afterwards, so that the form has the new state. Imports no component.
import { sendRequest, api } from '../api/client';
import { sendDeletion } from '../api/deletion';
import { isRetryable, networkProblem, type Problem } from '../api/problem';
import { may, session } from '../session/session.svelte';
import { t } from '../text';
import { uuid } from '../value/uuid';
import { findDeletion, readObject, restoreObject } from './object-requests';
import type { ObjectEditor } from './editor.svelte';
import type { RemoteChanges } from './newer-version';
import {
  mayBeScheduled,
  permission,
  statusOf,
  type Action,
  type Permission,
  type Status,
} from './publish-rules';

export type OpenDialog = 'publish' | 'schedule' | 'delete' | 'unpublish' | 'archive' | null;

export class Publishing {
  readonly editor: ObjectEditor;
  dialog: OpenDialog = $state(null);
  /** The screen has the dialogs of the actions: a form in a side sheet has none. */
  hasDialogs = $state(false);
  busy = $state(false);
  /** Why the last action was refused. */
  problem: Problem | null = $state.raw(null);
  /** Saving merged these changes of others: the user sees them before readers do. */
  merged: RemoteChanges | null = $state.raw(null);

  readonly status: Status = $derived.by(() => statusOf(this.editor.object?.internal?.status));
  /** The user may change the object at all. */
  readonly mayUpdate: boolean = $derived.by(() => this.editor.id !== null && may('u', this.editor.type.name));
  /** The user may decide what readers see of this object. */
  readonly mayPublish: boolean = $derived.by(() => this.mayUpdate && session.mayPublish);
  readonly scheduledAt: string | null = $derived.by(() => this.editor.object?.internal?.scheduledAt ?? null);

  readonly isUploading: boolean = $derived.by(() => this.editor.formState.isUploading);

  /** Idempotency key of a copy whose response was lost: a retry creates no second copy. */
  #copyKey: { key: string; etag: string | null } | null = null;

  constructor(editor: ObjectEditor) {
    this.editor = editor;
  }

  /** Returns whether an action is possible. With unsaved changes, Publish is possible in every status. */
  may(action: Action): Permission {
    const permitted = permission(this.status, action);
    return action === 'publish' && permitted === 'done' && this.editor.formState.isChanged
      ? 'allowed'
      : permitted;
  }

  /** The dialog that precedes publishing can be offered. */
  get mayOfferPublish(): boolean {
    return (
      this.hasDialogs && this.editor.type.draftPublic && this.mayPublish && this.may('publish') === 'allowed'
    );
  }

  get maySchedule(): boolean {
    return mayBeScheduled(this.status) || (this.status === 'public' && this.editor.formState.isChanged);
  }

  /** Saves what the user has seen. False when that failed, or when it merged changes that are not seen yet. */
  async #save(): Promise<boolean> {
    this.merged = null;
    const { hasIncompleteDate } = this.editor.formState;
    const reason = this.isUploading
      ? t.publishing.uploading
      : hasIncompleteDate
        ? t.publishing.incompleteDate
        : null;
    this.problem = reason === null ? null : { ...networkProblem(), message: reason };
    if (this.problem) return false;
    const { newerVersion } = this.editor;
    // The dialog has shown the form merged with this newer version.
    if (newerVersion && this.dialog === 'publish') {
      this.editor.mergeNewerVersion();
      if (this.editor.mergeConflict) return false;
      // Before the first publication there is nothing that the dialog could compare the form with.
      if ((this.editor.object?.internal?.publicVersion ?? -1) <= 0) {
        this.merged = newerVersion.remoteChanges;
        return false;
      }
    }
    if (!(await this.editor.save())) return false;
    this.merged = this.editor.lastMerge;
    return this.merged === null;
  }

  /** Runs an action. Publish saves first, and stops if that fails; with `hydrate`, linked objects are published too. */
  run(action: Action, hydrate = false): Promise<boolean> {
    return this.#exclusively(false, () => this.#run(action, hydrate));
  }

  async #run(action: Action, hydrate: boolean): Promise<boolean> {
    if (action === 'publish' && !(await this.#save())) return false;
    const before = permission(this.status, action);
    const done = await this.#act((params) =>
      api.POST(`/api/v1/content/{contentType}/{id}/${action}`, {
        params: { ...params, ...(hydrate && { query: { hydrate: 1 as const } }) },
      }),
    );
    if (done || before === 'done' || !this.problem || !isRetryable(this.problem)) return done;
    // The response was lost: the stored object shows whether the action was carried out.
    const { id, type } = this.editor;
    const stored = await readObject(type.name, id ?? '');
    if ('problem' in stored || permission(statusOf(stored.data.internal?.status), action) !== 'done')
      return false;
    this.problem = null;
    return true;
  }

  schedule(scheduledAt: string, timeZone: string): Promise<boolean> {
    return this.#exclusively(false, async () => {
      if (!(await this.#save())) return false;
      return this.#act((params) =>
        api.PUT('/api/v1/content/{contentType}/{id}/schedule', {
          params,
          body: { scheduledAt, timeZone },
        }),
      );
    });
  }

  unschedule(): Promise<boolean> {
    return this.#exclusively(false, () =>
      this.#act((params) => api.DELETE('/api/v1/content/{contentType}/{id}/schedule', { params })),
    );
  }

  /** Runs a transition of the workflow. Unsaved changes are saved first. */
  transition(name: string): Promise<boolean> {
    return this.#exclusively(false, async () => {
      if (!this.editor.readonly && !(await this.#save())) return false;
      return this.#act(({ path, header }) =>
        api.PUT('/api/v1/workflow/{content_type}/{object_id}', {
          headers: header,
          params: { path: { content_type: path.contentType, object_id: path.id } },
          body: { action: name },
        }),
      );
    });
  }

  /** Copies the stored object; the id of the copy, or null when it was refused. */
  duplicate(): Promise<string | null> {
    return this.#exclusively(null, () => this.#duplicate());
  }

  async #duplicate(): Promise<string | null> {
    const { id, type, formState } = this.editor;
    if (id === null) return null;
    const etag = formState.base?.etag ?? null;
    if (this.#copyKey?.etag !== etag) this.#copyKey = null;
    this.#copyKey ??= { key: uuid(), etag };
    const result = await sendRequest<{ id: string }>(
      api.POST('/api/v1/content/{contentType}/{id}/duplicate', {
        headers: { 'Idempotency-Key': this.#copyKey.key },
        params: { path: { contentType: type.name, id } },
        body: { relatedObjectsToDuplicate: [] },
      }),
    );
    if (!('problem' in result && isRetryable(result.problem))) this.#copyKey = null;
    this.problem = 'problem' in result ? result.problem : null;
    return 'problem' in result ? null : result.data.id;
  }

  /** Deletes the object, if it still is in the state that the form shows. */
  remove(): Promise<boolean> {
    return this.#exclusively(false, () => this.#remove());
  }

  async #remove(): Promise<boolean> {
    const { id, type, formState } = this.editor;
    if (id === null) return false;
    const etag = formState.base?.etag;
    const problem = await sendDeletion(
      api.DELETE('/api/v1/content/{contentType}/{id}', {
        params: { path: { contentType: type.name, id }, ...(etag && { header: { 'If-Match': etag } }) },
      }),
    );
    this.problem = problem && explained(problem);
    return this.problem === null;
  }

  /** Runs one action at a time, including the save before it; during another one the result is `ignored`. */
  async #exclusively<T>(ignored: T, action: () => Promise<T>): Promise<T> {
    if (this.busy) return ignored;
    this.busy = true;
    try {
      return await action();
    } finally {
      this.busy = false;
    }
  }

  /** Sends an action on the state that the form knows. If somebody has changed the object, the server refuses. */
  async #act(request: (params: Params) => Parameters<typeof sendRequest<unknown>>[0]): Promise<boolean> {
    const { id, type, formState } = this.editor;
    if (id === null) return false;
    this.problem = null;
    const etag = formState.base?.etag;
    const header = etag ? { 'If-Match': etag } : {};
    const result = await sendRequest<unknown>(request({ path: { contentType: type.name, id }, header }));
    // A refusal may mean that the object is in another state than the form knows: it is read in any case.
    await this.editor.refresh();
    this.problem = 'problem' in result ? explained(result.problem) : null;
    return this.problem === null;
  }
}

interface Params {
  path: { contentType: string; id: string };
  header: { 'If-Match'?: string };
}

function explained(problem: Problem): Problem {
  return problem.status === 412 ? { ...problem, message: t.publishing.changedMeanwhile } : problem;
}

const known = new WeakMap<ObjectEditor, Publishing>();

/** The actions of an open object: one state for the side panel and the save bar. */
export function publishingOf(editor: ObjectEditor): Publishing {
  let publishing = known.get(editor);
  if (!publishing) {
    publishing = new Publishing(editor);
    known.set(editor, publishing);
  }
  return publishing;
}

/** Restores the object of the newest deletion of an id; null when it succeeded. */
export async function undoDeletion(contentType: string, id: string): Promise<Problem | null> {
  const deletion = await findDeletion(contentType, id);
  // No entry has the number 0: without a deletion, the server responds with 404.
  return 'problem' in deletion ? deletion.problem : restoreObject(deletion.data?.entry ?? '0');
}
