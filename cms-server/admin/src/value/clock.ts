// The time of the server, because the clock of the browser can be years off. Everything that is compared
// with a time of the server uses it. Knows no request.

/** Smaller differences are ignored: the header has full seconds, and is written before the response is transferred. */
const TOLERANCE_MS = 30_000;
let offset = 0;

/** Reads the time from the `Date` header of a response that does not come from a cache. */
export function syncClock(header: string | null, local = Date.now()): void {
  const server = Date.parse(header ?? '');
  if (Number.isNaN(server)) return;
  const difference = server - local;
  offset = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

/** The time of the server, as Unix time in milliseconds. */
export function serverNow(): number {
  return Date.now() + offset;
}
