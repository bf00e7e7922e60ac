// Days of the calendar of the browser, as date inputs write them (`2026-01-31`). Knows no text.
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;

const MINUTE_MS = 60_000;

/** The day of a time, here. */
export function dayOf(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * MINUTE_MS;
  return new Date(time - offset).toISOString().slice(0, 10);
}

/** The time at which a day, or the day `later` days after it, begins here; null when the text is no day. */
export function startOfDay(day: string, later = 0): string | null {
  const [, year, month, date] = DAY.exec(day)?.map(Number) ?? [];
  if (year === undefined || month === undefined || date === undefined) return null;
  const start = new Date(year, month - 1, date);
  if (start.getMonth() !== month - 1) return null;
  // A day of 23 or 25 hours begins and ends at midnight too.
  return new Date(year, month - 1, date + later).toISOString();
}
