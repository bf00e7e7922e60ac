import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { focusOf, inside, rectangleOf, resized, trimWith } from './rectangle';

const image = { width: 400, height: 400 };

describe('crop', () => {
  it.each([
    [
      { top: 10, right: 10, bottom: 10, left: 10 },
      { left: 10, top: 10, width: 380, height: 380 },
    ],
    [
      { top: 10, left: 10, width: 50, height: 50 },
      { left: 10, top: 10, width: 50, height: 50 },
    ],
    [
      { top: 0, right: 100, width: 50, height: 50 },
      { left: 250, top: 0, width: 50, height: 50 },
    ],
    [
      { top: 10, left: 10, width: 50 },
      { left: 10, top: 10, width: 50, height: 390 },
    ],
    [
      { top: 0, left: 0, width: 9999, height: 9999 },
      { left: 0, top: 0, width: 400, height: 400 },
    ],
  ])('reads %j as the server does', (trim, expected) => {
    expect(rectangleOf(trim, image)).toEqual(expected);
  });

  it('is always inside the image', () => {
    const number = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(number, number, number, number, (left, top, width, height) => {
        for (const area of [
          inside({ left, top, width, height }, image),
          resized(inside({ left, top, width, height }, image), width, height, image),
        ]) {
          expect(area.left).toBeGreaterThanOrEqual(0);
          expect(area.top).toBeGreaterThanOrEqual(0);
          expect(area.width).toBeGreaterThan(0);
          expect(area.height).toBeGreaterThan(0);
          expect(area.left + area.width).toBeLessThanOrEqual(image.width);
          expect(area.top + area.height).toBeLessThanOrEqual(image.height);
        }
      }),
    );
  });

  it('is the same when it is read after it was written', () => {
    const area = { left: 5, top: 6, width: 70, height: 80 };
    expect(rectangleOf(trimWith({ right: 1, bottom: 2, note: 'x' }, area), image)).toEqual(area);
    expect(trimWith({ note: 'x' }, area)).toMatchObject({ note: 'x' });
  });

  it('reads focal points', () => {
    expect(focusOf({ x: 0.25, y: 2 })).toEqual({ x: 0.25, y: 1 });
    expect(focusOf({ x: 'left' })).toBeNull();
  });
});
