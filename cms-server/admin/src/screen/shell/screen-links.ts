// Links to the screens that the user may open, for the navigation and the command palette.
import { route } from '../../router.svelte';
import { may, session } from '../../session/session.svelte';
import { t } from '../../text';
import { consoleQuery } from './console-link';

export interface ScreenLink {
  path: string;
  label: string;
  query?: Record<string, string>;
}

/** Screens about the objects of all types. */
export function contentScreens(): ScreenLink[] {
  const { types } = session;
  return [
    { path: 'activity', label: t.shell.activity },
    ...(types.some((type) => type.draftPublic) ? [{ path: 'schedule', label: t.shell.schedule }] : []),
    // The trash needs read and delete on a type.
    ...(types.some(({ name }) => may('r', name) && may('d', name))
      ? [{ path: 'trash', label: t.shell.trash }]
      : []),
  ];
}

export function managementScreens(): ScreenLink[] {
  const { places } = t.shell;
  return [
    { path: 'types', label: places.types },
    ...(session.isAdmin
      ? [
          { path: 'users', label: places.users },
          { path: 'keys', label: places.keys },
          { path: 'webhooks', label: places.webhooks },
          { path: 'workflows', label: places.workflows },
          { path: 'system', label: places.system },
        ]
      : []),
    { path: 'api', label: places.api, query: consoleQuery(route.segments, route.query) },
  ];
}
