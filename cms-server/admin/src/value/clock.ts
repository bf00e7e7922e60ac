// The time of the server, because the clock of the browser can be years off. Everything that is compared
// with a time of the server uses it. Sends no requests.

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

const HOUR_MS = 3_600_000;
/** No object is older: the API has years of four digits. */
const FIRST_DATE_MS = Date.parse('0001-01-01T00:00:00Z');

/** A date in the format of the API; null if it is not valid, which only a typed address can cause. */
export function isoDate(value: string | number): string | null {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** The date so many days before now. Rounded down to an hour, so that requests stay the same until the next hour. */
export function daysBefore(days: number, now = serverNow()): string | null {
  const from = Math.floor(now / HOUR_MS) * HOUR_MS - days * 24 * HOUR_MS;
  return isoDate(Math.max(from, FIRST_DATE_MS));
}
