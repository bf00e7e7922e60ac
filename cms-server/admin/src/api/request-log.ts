// The log of the last requests of the page, which the console and the request panel show. Bodies with passwords
// are not logged. Sends HTTP requests; does not import Svelte. Loaded with the first screen: keep it small.

export interface LoggedRequest {
  request: Request;
  body?: string;
  /** Absent when no response has arrived. */
  status?: number;
  ms?: number;
  /** In milliseconds since the page was loaded. */
  at: number;
}

const MAX_REQUESTS = 100;
const MAX_BODY_CHARS = 65_000;
const SECRET_PATHS = /v1.(session|internal.user)/;

let requests: LoggedRequest[] = [];
let notify: (() => void) | undefined;

/** Notes a request; call the result with the status of the response. */
export function logRequest(request: Request): (status: number) => void {
  let entry: LoggedRequest = { request, at: performance.now() };
  const change = (more: Partial<LoggedRequest>) => {
    entry = { ...entry, ...more };
    requests = [...requests.filter((other) => other.request !== request), entry].slice(-MAX_REQUESTS);
    notify?.();
  };
  change({});
  if (request.method !== 'GET' && !SECRET_PATHS.test(request.url)) {
    request
      .clone()
      .text()
      .then(
        (body) => body && body.length <= MAX_BODY_CHARS && change({ body }),
        () => 0,
      );
  }
  return (status) => change({ status, ms: performance.now() - entry.at });
}

/** Requests since a moment, the last one first. */
export function requestsSince(at: number): LoggedRequest[] {
  return requests.filter((entry) => entry.at >= at).reverse();
}

/** Calls `listener`, instead of the previous one, after each change. Returns a function that stops the calls. */
export function onRequestLogged(listener: () => void): () => void {
  notify = listener;
  return () => (notify = undefined);
}
