// The requests that the page has sent lately, for those who want to send them too. Bodies with passwords are not
// kept. Knows HTTP; no Svelte.

export interface Sent {
  id: number;
  method: string;
  /** Path and query on this server. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Null until the response has arrived; 0 when none did. */
  status: number | null;
  ms: number | null;
  /** In milliseconds since the page was loaded. */
  at: number;
}

const KEPT = 100;
const MAX_BODY = 64 * 1024;
/** Headers without which a program gets another response. */
const NEEDED = ['content-type', 'x-mode', 'if-match'];
const SECRET = /^\/api\/v1\/(session|internal\/user)/;

let last = 0;
let kept: readonly Sent[] = [];
const listeners = new Set<() => void>();

function put(entry: Sent): void {
  kept = [...kept.filter(({ id }) => id !== entry.id), entry].slice(-KEPT);
  for (const listener of listeners) listener();
}

/** Notes a request; call the result with the status of the response. */
export function noteSent(request: Request): (status: number) => void {
  const { pathname, search } = new URL(request.url);
  const headers = NEEDED.flatMap((name): [string, string][] => {
    const value = request.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  last += 1;
  let entry: Sent = {
    id: last,
    method: request.method,
    path: pathname + search,
    headers: Object.fromEntries(headers),
    body: undefined,
    status: null,
    ms: null,
    at: performance.now(),
  };
  put(entry);
  const change = (changes: Partial<Sent>) => {
    entry = { ...entry, ...changes };
    if (kept.some(({ id }) => id === entry.id)) put(entry);
  };
  if (request.method !== 'GET' && !SECRET.test(pathname)) {
    void request
      .clone()
      .text()
      .then((text) => {
        if (text !== '' && text.length <= MAX_BODY) change({ body: text });
      })
      .catch(() => undefined);
  }
  return (status) => change({ status, ms: performance.now() - entry.at });
}

/** Requests since a moment, the last one first. */
export function sentSince(at: number): Sent[] {
  return kept.filter((entry) => entry.at >= at).sort((a, b) => b.id - a.id);
}

/** Calls `listener` after each change; returns how to stop. */
export function onSent(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
