import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf, startOfDay } from './day';

test('a day begins at midnight of the calendar of the user', () => {
  expect(startOfDay('2026-01-31')).toBe(new Date(2026, 0, 31).toISOString());
  expect(startOfDay('2026-01-31', 1)).toBe(new Date(2026, 1, 1).toISOString());
});

test('a text that is no day has no beginning', () => {
  for (const text of ['', '2026-02-30', '2026-13-01', 'today', '2026-1-1', '2026-01-31T00:00'])
    expect(startOfDay(text)).toBeNull();
});

test('the next day begins where a day ends', () => {
  const day = fc.date({ min: new Date(2000, 0, 2), max: new Date(2090, 0, 1), noInvalidDate: true });
  fc.assert(
    fc.property(day, (time) => {
      const text = (date: Date) =>
        [date.getFullYear(), date.getMonth() + 1, date.getDate()]
          .map((part) => String(part).padStart(2, '0'))
          .join('-');
      const next = new Date(time.getFullYear(), time.getMonth(), time.getDate() + 1);
      expect(startOfDay(text(time), 1)).toBe(startOfDay(text(next)));
      expect(dayOf(time.getTime())).toBe(text(time));
    }),
  );
});
