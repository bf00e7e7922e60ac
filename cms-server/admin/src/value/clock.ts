// The time of the server, because the clock of the browser can be years off. Everything that is compared
// with a time of the server uses it. Knows no request.

/** Smaller differences are ignored: the header has whole seconds, and is older than the response by its duration. */
const TOLERANCE_MS = 30_000;
let offset = 0;

/** Learns the time from the `Date` header of a response that no cache has kept. */
export function syncClock(header: string | null, local = Date.now()): void {
  const server = Date.parse(header ?? '');
  if (Number.isNaN(server)) return;
  const difference = server - local;
  offset = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

/** Milliseconds. */
export function serverNow(): number {
  return Date.now() + offset;
}
