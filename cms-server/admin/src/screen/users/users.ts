// Requests about users, and what can be derived from a user.
import { sendRequest, api, type ApiResult, type Page, type Schema } from '../../api/client';
import { t } from '../../text';
import { dateTime } from '../../text/format';

export type User = Schema['UserAccount'];
export type Role = User['role'];
export const ROLES: Role[] = ['admin', 'developer', 'editor', 'author', 'viewer', 'custom'];

export function isRole(value: string | null): value is Role {
  return ROLES.some((role) => role === value);
}

/** Columns by which the server sorts the list. */
export const ORDERS = ['name', 'email', 'role', 'lastSeenAt', 'createdAt'] as const;
export type UserOrder = (typeof ORDERS)[number];

/** The order in the address: `-lastSeenAt` is by the last use, the newest first. The default is by name. */
export function parseUserOrder(text: string | null): { by: UserOrder; descending: boolean } {
  const descending = text?.startsWith('-') ?? false;
  const by = ORDERS.find((known) => known === (descending ? text?.slice(1) : text));
  return by === undefined ? { by: 'name', descending: false } : { by, descending };
}

/** Returns whether a user can sign in, if `disabled` is ignored. */
function hasAccess(user: User): boolean {
  return user.hasPassword || user.openId;
}

/** Returns whether a user is the only enabled admin who can sign in: the server keeps one. */
export async function isLastAdmin(user: User): Promise<boolean> {
  if (user.role !== 'admin' || user.disabled || !hasAccess(user)) return false;
  const result = await sendRequest<Page<User>>(
    api.GET('/api/v1/internal/user', { params: { query: { role: 'admin', disabled: false, limit: 1000 } } }),
  );
  return (
    !('problem' in result) && !result.data.data.some((other) => other.id !== user.id && hasAccess(other))
  );
}

/** Whether and how a user can sign in, in words. */
export function statusOf(user: User): string {
  if (user.disabled) return t.users.disabled;
  if (user.pendingLink)
    return t.users[user.pendingLink.kind === 'invitation' ? 'invited' : 'resetPending'](
      dateTime(user.pendingLink.expiresAt),
    );
  return hasAccess(user) ? t.users.active : t.users.noSignIn;
}

export function createLink(id: string): Promise<ApiResult<Schema['SignInLink']>> {
  return sendRequest(api.POST('/api/v1/internal/user/{id}/link', { params: { path: { id } } }));
}
