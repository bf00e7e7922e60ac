// Rates and lines of charts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areaPath, linePath, perSecond, perStep, runs } from './time-series';

const points = (...values: number[]) => values.map((value, index) => ({ at: index * 2000, value }));

test('rates say how much was added per second', () => {
  expect(perSecond(points(10, 14, 14))).toEqual([
    { at: 2000, value: 2 },
    { at: 4000, value: 0 },
  ]);
});

test('a counter that starts again is no negative rate', () => {
  expect(perSecond(points(10, 2, 4))).toEqual([{ at: 4000, value: 1 }]);
});

test('means leave out readings in which nothing happened', () => {
  expect(perStep(points(1, 3, 3), points(0, 4, 4))).toEqual([{ at: 2000, value: 0.5 }]);
});

test('a gap interrupts the line', () => {
  const list = runs(points(1, 2, 0, 4), { from: 0, to: 6000, max: 4, gap: 2000 });
  expect(linePath(list)).toBe('M0 75L33.33 50L66.67 100L100 0');
  const broken = runs([...points(1, 2), { at: 60_000, value: 1 }], {
    from: 0,
    to: 60_000,
    max: 2,
    gap: 5000,
  });
  expect(linePath(broken)).toBe('M0 50L3.33 0M100 50h0.5');
  expect(areaPath(broken)).toBe('M0 50L3.33 0L3.33 100L0 100Z');
});

test('every line stays inside the box', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true })), fc.double({ noNaN: true }), (values, max) => {
      const list = runs(points(...values), { from: 0, to: values.length * 2000, max, gap: 2000 });
      for (const [x, y] of list.flat()) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(100);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(100);
      }
    }),
  );
});
