// Dates and numbers in the language of the user.
import { serverNow } from '../value/clock';
import { locale } from './index';

/** A date and time of the API (`2026-01-02T03:04:05.000000+0000`), or null. */
export function parseTime(value: string | null | undefined): Date | null {
  if (!value) return null;
  const time = new Date(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(time.getTime()) ? null : time;
}

/** `2 Jan 2026, 03:04`. */
export function dateTime(value: string | null | undefined): string {
  const time = parseTime(value);
  return time
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(time)
    : '—';
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `2 minutes ago`, `in 3 days`. */
export function relativeTime(value: string | null | undefined, now = serverNow()): string {
  const time = parseTime(value);
  if (!time) return '—';
  const seconds = (time.getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(0, 'second');
}

export function number(value: number): string {
  return new Intl.NumberFormat(locale).format(value);
}

/** The form of a sentence that fits a number: `plural(2, { one: '1 post', other: '2 posts' })`. */
export function plural(count: number, forms: { one: string; other: string }): string {
  return new Intl.PluralRules(locale).select(count) === 'one' ? forms.one : forms.other;
}

/** `12:04:31`. */
export function timeOfDay(time: Date): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(time);
}

/** `12:04` today, else with the date; of milliseconds. */
export function shortTime(at: number, now = serverNow()): string {
  const today = new Date(at).toDateString() === new Date(now).toDateString();
  return new Intl.DateTimeFormat(
    locale,
    today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' },
  ).format(at);
}
