import { describe, expect, it } from 'vitest';
import { dateTime, relativeDays, relativeTime } from './format';

/** Times of the zone in which the tests run. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 2, day, hour, minute);
const relative = (time: Date, now: Date) => relativeTime(time.toISOString(), now.getTime());

it('the end of the time in the trash is written in days', () => {
  const days = (time: Date, now: Date) => relativeDays(time.toISOString(), now.getTime());
  expect(days(new Date(2026, 4, 9, 9, 59), at(10, 10))).toBe('in 60 days');
  expect(days(at(11, 9), at(10, 10))).toBe('tomorrow');
  expect(days(new Date(2027, 2, 11), at(10, 10))).toBe('in 1 year');
});

it('a time is written in the zone that is asked for', () => {
  const time = '2026-07-01T13:00:00Z';
  expect(dateTime(time, 'America/New_York')).toMatch(/\b0?9:00/);
  expect(dateTime(time, 'Asia/Tokyo')).toMatch(/(22:00|10:00 PM)$/);
  expect(dateTime(null, 'Asia/Tokyo')).toBe('—');
});

describe('relative times', () => {
  it.each([
    [at(11, 9), at(10, 10), 'tomorrow'],
    [at(11, 9), at(10, 23, 30), 'tomorrow'],
    [at(12, 9), at(10, 10), 'in 2 days'],
    [at(9, 9), at(10, 23), 'yesterday'],
    [at(11, 1), at(10, 23), 'in 2 hours'],
    [at(10, 20), at(10, 2), 'in 18 hours'],
    [at(10, 2, 1), at(10, 2), 'in 1 minute'],
    [at(10, 2), at(10, 2), 'now'],
    [at(3, 9), at(10, 10), '1 week ago'],
    [at(18, 10), at(10, 10), 'in 1 week'],
    [new Date(2025, 0, 1), at(10, 10), '1 year ago'],
  ])('name %s at %s as people would', (time, now, text) => {
    expect(relative(time, now)).toBe(text);
  });
});
