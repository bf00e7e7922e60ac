import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fitRange, rangeWith } from './item-range';

const size = 100;
const part = fc.nat(20_000).chain((start) => fc.record({ start: fc.constant(start), end: fc.nat(20_000) }));

it('shows the beginning of a long list, and all of a short one', () => {
  expect(fitRange({ start: 0, end: size }, 10_000, size)).toEqual({ start: 0, end: 100 });
  expect(fitRange({ start: 0, end: size }, 3, size)).toEqual({ start: 0, end: 3 });
});

it('widens to an item beside it, and jumps to one far away', () => {
  expect(rangeWith({ start: 0, end: 100 }, 100, size)).toEqual({ start: 0, end: 101 });
  expect(rangeWith({ start: 500, end: 600 }, 450, size)).toEqual({ start: 450, end: 600 });
  expect(rangeWith({ start: 0, end: 100 }, 9999, size)).toEqual({ start: 9949, end: 10_049 });
});

it('contains the item, and does not exceed the list', () => {
  fc.assert(
    fc.property(part, fc.integer({ min: 1, max: 20_000 }), fc.nat(), (range, length, at) => {
      const index = at % length;
      const shown = fitRange(rangeWith(fitRange(range, length, size), index, size), length, size);
      expect(shown.start).toBeLessThanOrEqual(index);
      expect(shown.end).toBeGreaterThan(index);
      expect(shown.end).toBeLessThanOrEqual(length);
    }),
  );
});

it('shows the end after the list became shorter', () => {
  expect(fitRange({ start: 9900, end: 10_000 }, 50, size)).toEqual({ start: 0, end: 50 });
  expect(fitRange({ start: 9900, end: 10_000 }, 9000, size)).toEqual({ start: 8900, end: 9000 });
});
