// Local times of a time zone, by the rules that the browser knows.

/** The zone of the browser. */
export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns whether this is the name of a zone: the server accepts no offsets such as `+02:00`. */
export function isTimeZone(zone: string): boolean {
  try {
    Intl.DateTimeFormat(undefined, { timeZone: zone });
    return /^[a-z]/i.test(zone);
  } catch {
    return false;
  }
}

/** The local time of an instant in a zone: `2026-03-29T09:00`. */
export function localTime(instant: Date, zone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  return `${part.year?.padStart(4, '0') ?? ''}-${part.month ?? ''}-${part.day ?? ''}T${part.hour ?? ''}:${part.minute ?? ''}`;
}

/**
 * The instant of a local time in a zone; null when the text is no time, or when clocks skip it. Of two
 * instants with the same local time it is the first.
 */
export function instantOf(local: string, zone: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local) || !isTimeZone(zone)) return null;
  const asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc)) return null;
  const DAY_MS = 86_400_000;
  // The offset of the zone changes at most once within two days.
  const offsets = [-DAY_MS, DAY_MS].map((shift) => {
    const moment = asUtc + shift;
    return Date.parse(`${localTime(new Date(moment), zone)}Z`) - Math.floor(moment / 60_000) * 60_000;
  });
  const found = offsets
    .map((offset) => new Date(asUtc - offset))
    .filter((instant) => localTime(instant, zone) === local)
    .sort((a, b) => a.getTime() - b.getTime());
  return found[0] ?? null;
}
