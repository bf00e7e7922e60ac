// Screens that can be opened from everywhere, as far as the user may see them.
import { may, session } from '../../session/session.svelte';
import { t } from '../../text';

export interface Place {
  path: string;
  label: string;
}

/** Screens beside the lists of types. */
export function places(): Place[] {
  return [
    { path: '', label: t.shell.home },
    ...(may('r', '_media') ? [{ path: 'media', label: t.shell.media }] : []),
    { path: 'search', label: t.search.title },
    { path: 'activity', label: t.shell.activity },
    { path: 'schedule', label: t.shell.schedule },
    ...(mayDelete() ? [{ path: 'trash', label: t.shell.trash }] : []),
    { path: 'me', label: t.shell.settings },
    { path: 'types', label: t.types.title },
    { path: 'api', label: t.apiConsole.title },
    ...(session.isAdmin
      ? [
          { path: 'users', label: t.account.users },
          { path: 'keys', label: t.keys.title },
          { path: 'webhooks', label: t.webhooks.title },
          { path: 'workflows', label: t.workflows.title },
          { path: 'system', label: t.system.title },
        ]
      : []),
  ];
}

/** The trash needs read and delete on a type. */
export function mayDelete(): boolean {
  return session.types.some((type) => may('r', type.name) && may('d', type.name));
}
