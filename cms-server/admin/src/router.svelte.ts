// The address of the page: path and query below /admin, over the History API. Imports no screen.
import { isRecord } from './value/record';
import { decoded } from './value/url';

const BASE_PATH = '/admin';

function pathOf(pathname: string): string {
  return pathname.slice(BASE_PATH.length).replace(/^\/|\/$/g, '');
}

interface Address {
  path: string;
  query: URLSearchParams;
}

function read({ pathname, search }: URL | Location = location): Address {
  return { path: pathOf(pathname), query: new URLSearchParams(search) };
}

let current = $state.raw(read());
/** Counts the screens that were opened. */
let opened = $state(0);
/** When the screen was opened, in milliseconds since the page was loaded. */
let openedAt = 0;

/** Returns whether an address is that of the open screen. `key` tells forms of new objects of one type apart. */
function isOpen({ path, query }: Address): boolean {
  return path === current.path && query.get('key') === current.query.get('key');
}

/** Reads the address again. Another address opens a new screen; `keep`: the open screen has only changed its own path. */
function follow(options: { keep?: boolean } = {}): void {
  const next = read();
  const stays = options.keep === true || isOpen(next);
  current = next;
  if (stays) return;
  opened += 1;
  openedAt = performance.now();
}

/** Returns false to stay on the screen. */
type Guard = () => boolean;
const guards = new Set<Guard>();

/** Number of the history entry that is shown: the difference of two numbers is the distance of Back or Forward. */
let historyPosition = historyPositionOf(history.state);

function historyPositionOf(state: unknown): number {
  return isRecord(state) && typeof state.historyPosition === 'number' ? state.historyPosition : 0;
}

function mayLeave(next: Address): boolean {
  if (isOpen(next)) return true;
  for (const guard of guards) if (!guard()) return false;
  return true;
}

/** The browser has gone back or forward already: if a guard refuses, the page returns to the previous entry. */
addEventListener('popstate', (event) => {
  const next = historyPositionOf(event.state);
  if (next !== historyPosition && !mayLeave(read())) {
    history.go(historyPosition - next);
    return;
  }
  historyPosition = next;
  follow();
});

function write(url: string, replace = false): void {
  if (!replace) historyPosition += 1;
  if (replace) history.replaceState({ historyPosition }, '', url);
  else history.pushState({ historyPosition }, '', url);
}

export const route = {
  /** Path below /admin, without slashes at the ends: `c/post/hello`. */
  get path(): string {
    return current.path;
  },
  get segments(): string[] {
    return current.path.split('/').map(decoded);
  },
  get query(): URLSearchParams {
    return current.query;
  },
  /** Changes with every opened screen: as the key of a component it prevents that two screens share state. */
  get opened(): number {
    return opened;
  },
  get openedAt(): number {
    return openedAt;
  },
};

/** The URL of a path below /admin; segments are encoded by the caller. */
export function href(path: string, query?: Record<string, string | undefined>): string {
  const entries = Object.entries(query ?? {}).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(entries).toString();
  return `${BASE_PATH}${path === '' ? '' : `/${path}`}${text === '' ? '' : `?${text}`}`;
}

/** The last segment of the URL of a form for a new object or type: ids and names of types do not contain `+`. */
export const NEW_SEGMENT = '+new';

/** The URL of the form of a new object. */
export function newHref(type: string, query?: Record<string, string>): string {
  return href(`c/${encodeURIComponent(type)}/${NEW_SEGMENT}`, query);
}

/** The URL of the list of a type; two built-in types have screens of their own. */
export function listHref(type: string): string {
  return href(/^_(media|webhooks)$/.test(type) ? type.slice(1) : `c/${encodeURIComponent(type)}`);
}

/** The URL of the form of an object. */
export function objectHref(type: string, id: string, query?: Record<string, string | undefined>): string {
  const list = type === '_media' ? 'media' : `c/${encodeURIComponent(type)}`;
  return href(`${list}/${encodeURIComponent(id)}`, query);
}

/** Opens a URL of the page; `replace` adds nothing to the history, `keep` stays on the open screen. */
export function navigate(url: string, options: { replace?: boolean; keep?: boolean } = {}): void {
  if (!options.keep && !mayLeave(read(new URL(url, location.href)))) return;
  write(url, options.replace);
  follow(options);
  if (!options.replace) {
    scrollTo(0, 0);
    const heading = document.querySelector<HTMLElement>('h1');
    if (heading) heading.focus();
    // The heading of the next screen gets the focus if nothing else has it.
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }
}

/** Changes the query string of this screen; an empty value removes the parameter. */
export function setQuery(
  changes: Record<string, string | undefined>,
  options: { replace?: boolean } = {},
): void {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  const url = `${location.pathname}${text === '' ? '' : `?${text}`}`;
  write(url, options.replace);
  current = read();
}

/** Asks `guard` before each navigation; returns a function that removes it. */
export function guardNavigation(guard: Guard): () => void {
  guards.add(guard);
  return () => guards.delete(guard);
}

/** Makes a click on a link of the page navigate without loading it again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.target !== '' || link.origin !== location.origin || link.hasAttribute('download')) return;
  if (link.pathname !== BASE_PATH && !link.pathname.startsWith(`${BASE_PATH}/`)) return;
  event.preventDefault();
  navigate(link.pathname + link.search + link.hash);
}
