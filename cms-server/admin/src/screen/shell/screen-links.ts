// Links to the screens that the user may open, for the command palette. The navigation (`Shell.svelte`) has its own
// list, and shares `mayUseTrash`.
import { may, session } from '../../session/session.svelte';
import { t } from '../../text';

export interface ScreenLink {
  path: string;
  label: string;
}

/** Screens other than the lists of types. */
export function screenLinks(): ScreenLink[] {
  return [
    { path: '', label: t.shell.home },
    ...(may('r', '_media') ? [{ path: 'media', label: t.shell.media }] : []),
    { path: 'search', label: t.shell.places.search },
    { path: 'activity', label: t.shell.activity },
    { path: 'schedule', label: t.shell.schedule },
    ...(mayUseTrash() ? [{ path: 'trash', label: t.shell.trash }] : []),
    { path: 'me', label: t.shell.settings },
    { path: 'types', label: t.shell.places.types },
    { path: 'api', label: t.shell.places.api },
    ...(session.isAdmin
      ? [
          { path: 'users', label: t.shell.places.users },
          { path: 'keys', label: t.shell.places.keys },
          { path: 'webhooks', label: t.shell.places.webhooks },
          { path: 'workflows', label: t.shell.places.workflows },
          { path: 'system', label: t.shell.places.system },
        ]
      : []),
  ];
}

/** The trash needs read and delete on a type. */
export function mayUseTrash(): boolean {
  return session.types.some((type) => may('r', type.name) && may('d', type.name));
}
