// The address of the page: path and query below /admin, over the History API. Knows no screen.
const BASE = '/admin';

function read(): { path: string; query: URLSearchParams } {
  const path = location.pathname.slice(BASE.length).replace(/^\/|\/$/g, '');
  return { path, query: new URLSearchParams(location.search) };
}

let current = $state.raw(read());
/** Counts the screens that were opened. */
let opened = $state(0);
/** When the screen was opened, in milliseconds since the page was loaded. */
let openedAt = 0;

/** Reads the address again. Another path opens another screen, except when the screen renames itself. */
function follow(options: { keep?: boolean } = {}): void {
  const before = current.path;
  current = read();
  if (current.path === before || options.keep) return;
  opened += 1;
  openedAt = performance.now();
}

/** Returns false to stay on the screen. */
type Guard = () => boolean;
const guards = new Set<Guard>();

addEventListener('popstate', () => follow());

export const route = {
  /** Path below /admin, without slashes at the ends: `c/post/hello`. */
  get path(): string {
    return current.path;
  },
  get segments(): string[] {
    return current.path.split('/').map(decodeURIComponent);
  },
  get query(): URLSearchParams {
    return current.query;
  },
  /** Screens with different numbers share no state. */
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
  return `${BASE}${path === '' ? '' : `/${path}`}${text === '' ? '' : `?${text}`}`;
}

/** The last segment of the form of something new: `+` is no character of ids and of names of types. */
export const NEW = '+new';

/** The URL of the form of a new object. */
export function newHref(type: string, query?: Record<string, string>): string {
  return href(`c/${encodeURIComponent(type)}/${NEW}`, query);
}

/** The URL of an object; files have a screen of their own. */
export function objectHref(type: string, id: string): string {
  const list = type === '_media' ? 'media' : `c/${encodeURIComponent(type)}`;
  return href(`${list}/${encodeURIComponent(id)}`);
}

/** Opens a URL of the page; `replace` adds nothing to the history, `keep` stays on the open screen. */
export function navigate(url: string, options: { replace?: boolean; keep?: boolean } = {}): void {
  for (const guard of guards) if (!guard()) return;
  if (options.replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  follow(options);
  if (!options.replace) {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus();
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
  if (options.replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  current = read();
}

/** Asks `guard` before each navigation; returns how to stop. */
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
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  navigate(link.pathname + link.search + link.hash);
}
