// Dates and numbers in the language of the user.
import { serverNow } from '../value/clock';
import { locale } from './index';

/** A date and time of the API (`2026-01-02T03:04:05.000000+0000`), or null. */
export function parseTime(value: string | null | undefined): Date | null {
  if (!value) return null;
  const time = new Date(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(time.getTime()) ? null : time;
}

/** `2 Jan 2026, 03:04`, in the time zone of the browser or in another that it knows. */
export function dateTime(value: string | null | undefined, timeZone?: string): string {
  const time = parseTime(value);
  return time
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time)
    : '—';
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** Units that are always written with a number: `last week` would be inexact. */
const LONG_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_SECONDS],
  ['month', 30 * DAY_SECONDS],
  ['week', 7 * DAY_SECONDS],
];
/** A shorter time is counted in hours even over midnight. */
const SHORT_SECONDS = 6 * HOUR_SECONDS;

/** `2 minutes ago`, `tomorrow`, `in 3 days`: days are those of the calendar of the user. */
export function relativeTime(value: string | null | undefined, now = serverNow()): string {
  const time = parseTime(value);
  if (!time) return '—';
  const seconds = (time.getTime() - now) / 1000;
  const distance = Math.abs(seconds);
  const long = LONG_UNITS.find(([, size]) => distance >= size);
  if (long) {
    const [unit, size] = long;
    return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(
      Math.trunc(seconds / size),
      unit,
    );
  }
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const days = dayNumber(time) - dayNumber(new Date(now));
  if (days !== 0 && distance >= SHORT_SECONDS) return format.format(days, 'day');
  if (distance >= HOUR_SECONDS) return format.format(Math.trunc(seconds / HOUR_SECONDS), 'hour');
  if (distance >= 60) return format.format(Math.trunc(seconds / 60), 'minute');
  return format.format(0, 'second');
}

/** `in 60 days`: less than 90 days in days, even where weeks or months would be shorter. */
export function relativeDays(value: string | null | undefined, now = serverNow()): string {
  const time = parseTime(value);
  const days = time ? dayNumber(time) - dayNumber(new Date(now)) : 0;
  if (!time || days === 0 || Math.abs(days) >= 90) return relativeTime(value, now);
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day');
}

/** Counts the days of the calendar, also where a day has 23 or 25 hours. */
function dayNumber(time: Date): number {
  return Math.round(Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) / 1000 / DAY_SECONDS);
}

/** A number. A stored one is shown with all its digits: at most 20 after the decimal sign. */
export function number(value: number, maximumFractionDigits = 3): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits }).format(value);
}

/** The form of a sentence that fits a number: `plural(2, { one: '1 post', other: '2 posts' })`. */
export function plural(count: number, forms: { one: string; other: string }): string {
  return new Intl.PluralRules(locale).select(count) === 'one' ? forms.one : forms.other;
}

/** `12:04:31`. */
export function timeOfDay(time: Date): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(time);
}

/** `12:04` today, else with the date. `at` is in milliseconds. */
export function shortTime(at: number, now = serverNow()): string {
  const today = new Date(at).toDateString() === new Date(now).toDateString();
  return new Intl.DateTimeFormat(
    locale,
    today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' },
  ).format(at);
}
