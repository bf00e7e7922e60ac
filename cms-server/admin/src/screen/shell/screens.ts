// The table of screens: a row per path below /admin, except `sign-in`. Loaded before everything else: it imports no
// session.
import type { Component } from 'svelte';

// Each screen has its own properties, which its row provides.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyComponent = Component<any>;

export interface Screen {
  load: () => Promise<{ default: AnyComponent }>;
  props: Record<string, string>;
}

interface Row {
  /** Segments in braces are properties of the screen. */
  path: string;
  load: Screen['load'];
  /** Loads the screen of a type with a single object, instead of `load`. */
  single?: Screen['load'];
}

const SCREENS: Row[] = [
  { path: '', load: () => import('../home/Home.svelte') },
  { path: 'media', load: () => import('../media/Library.svelte') },
  { path: 'media/{id}', load: () => import('../media/FileScreen.svelte') },
  {
    path: 'c/{type}',
    load: () => import('../list/List.svelte'),
    single: () => import('../object/SingleScreen.svelte'),
  },
  { path: 'c/{type}/{id}', load: () => import('../object/ObjectScreen.svelte') },
  { path: 'c/{type}/{id}/compare', load: () => import('../versions/Compare.svelte') },
  { path: 'search', load: () => import('../search/Search.svelte') },
  { path: 'activity', load: () => import('../activity/Activity.svelte') },
  { path: 'trash', load: () => import('../trash/Trash.svelte') },
  { path: 'schedule', load: () => import('../schedule/Schedule.svelte') },
  { path: 'types', load: () => import('../types/Types.svelte') },
  { path: 'types/+plan', load: () => import('../types/PlanScreen.svelte') },
  { path: 'types/{name}', load: () => import('../types/TypeScreen.svelte') },
  { path: 'users', load: () => import('../users/Users.svelte') },
  { path: 'users/{id}', load: () => import('../users/UserScreen.svelte') },
  { path: 'keys', load: () => import('../keys/Keys.svelte') },
  { path: 'webhooks', load: () => import('../webhooks/Webhooks.svelte') },
  { path: 'webhooks/{id}', load: () => import('../webhooks/WebhookScreen.svelte') },
  { path: 'workflows', load: () => import('../workflows/Workflows.svelte') },
  { path: 'system', load: () => import('../system/System.svelte') },
  { path: 'api', load: () => import('../console/Console.svelte') },
  { path: 'me', load: () => import('../me/Me.svelte') },
];

/** The screen of a path, given as segments; `isSingle` returns whether a type has a single object. */
export function screenFor(
  segments: string[],
  isSingle: (type: string) => boolean = () => false,
): Screen | undefined {
  for (const row of SCREENS) {
    const pattern = row.path.split('/');
    if (pattern.length !== segments.length) continue;
    const props: Record<string, string> = {};
    const matches = pattern.every((part, index) => {
      const segment = segments[index] ?? '';
      if (!part.startsWith('{')) return part === segment;
      props[part.slice(1, -1)] = segment;
      return segment !== '';
    });
    if (!matches) continue;
    return { load: (row.single && isSingle(props.type ?? '') && row.single) || row.load, props };
  }
  return undefined;
}
