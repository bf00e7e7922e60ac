// Which actions a status allows, and whom an object is shown to, as the server decides it. Knows no request
// and no text.
import type { ContentType } from '../type/definition';

export type Action = 'publish' | 'unpublish' | 'archive';
const STATUSES = ['draft', 'public', 'modified', 'archived'] as const;
export type Status = (typeof STATUSES)[number];

/** `done`: the object is in that state already. */
export type Permission = 'allowed' | 'done' | 'refused';

const PERMISSIONS: Record<Status, Record<Action, Permission>> = {
  draft: { publish: 'allowed', unpublish: 'done', archive: 'refused' },
  public: { publish: 'done', unpublish: 'allowed', archive: 'allowed' },
  modified: { publish: 'allowed', unpublish: 'allowed', archive: 'allowed' },
  archived: { publish: 'allowed', unpublish: 'refused', archive: 'done' },
};

export function statusOf(value: unknown): Status {
  return STATUSES.find((status) => status === value) ?? 'draft';
}

export function permission(status: Status, action: Action): Permission {
  return PERMISSIONS[status][action];
}

/** A schedule is possible where publishing changes something later: in drafts and edited objects. */
export function mayBeScheduled(status: Status): boolean {
  return status === 'draft' || status === 'modified';
}

/** Returns whether readers see a stored object of a type, by its `internal`. */
export function isPublic(
  type: ContentType,
  internal: { status?: unknown; workflowPublicVersion?: unknown },
): boolean {
  if (type.draftPublic) return internal.status === 'public' || internal.status === 'modified';
  return !type.restrictsReaders || typeof internal.workflowPublicVersion === 'number';
}

/** A transition into or out of `public` is seen by readers: it needs the right to publish. */
export function isPublishing(transition: { from: string; to: string }): boolean {
  return transition.from === 'public' || transition.to === 'public';
}
