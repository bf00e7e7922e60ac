// The requests that the page has sent lately, for those who want to send them too. Bodies with passwords are not
// kept. Knows HTTP; no Svelte. In the first screen: what can wait is where the requests are shown.

export interface LoggedRequest {
  request: Request;
  body?: string;
  /** Absent when no response has arrived. */
  status?: number;
  ms?: number;
  /** In milliseconds since the page was loaded. */
  at: number;
}

const KEPT = 100;
const MAX_BODY = 65_000;
const SECRET = /v1.(session|internal.user)/;

let kept: LoggedRequest[] = [];
let shown: (() => void) | undefined;

/** Notes a request; call the result with the status of the response. */
export function logRequest(request: Request): (status: number) => void {
  let entry: LoggedRequest = { request, at: performance.now() };
  const change = (more: Partial<LoggedRequest>) => {
    entry = { ...entry, ...more };
    kept = [...kept.filter((other) => other.request !== request), entry].slice(-KEPT);
    shown?.();
  };
  change({});
  if (request.method !== 'GET' && !SECRET.test(request.url)) {
    request
      .clone()
      .text()
      .then(
        (body) => body && body.length <= MAX_BODY && change({ body }),
        () => 0,
      );
  }
  return (status) => change({ status, ms: performance.now() - entry.at });
}

/** Requests since a moment, the last one first. */
export function requestsSince(at: number): LoggedRequest[] {
  return kept.filter((entry) => entry.at >= at).reverse();
}

/** Calls the one `listener` after each change; returns how to stop. */
export function onRequestLogged(listener: () => void): () => void {
  shown = listener;
  return () => (shown = undefined);
}
