import { describe, expect, it } from 'vitest';
import { positionBeside } from './popover-position';

const view = { width: 1000, height: 800 };
const anchor = { left: 100, right: 180, top: 100, bottom: 130 };

describe('a popover', () => {
  it('opens below its opener, at its start', () => {
    expect(positionBeside(anchor, { width: 200, height: 300 }, view, false)).toMatchObject({
      left: 100,
      top: 134,
    });
    expect(positionBeside(anchor, { width: 50, height: 300 }, view, true)).toMatchObject({ left: 130 });
  });

  it('stays inside the window', () => {
    const right = { ...anchor, left: 950, right: 990 };
    expect(positionBeside(right, { width: 200, height: 10 }, view, false).left).toBe(792);
    expect(positionBeside({ ...anchor, right: 120 }, { width: 200, height: 10 }, view, true).left).toBe(8);
  });

  it('opens above when there is more room, and scrolls when there is too little', () => {
    const low = { ...anchor, top: 600, bottom: 630 };
    expect(positionBeside(low, { width: 200, height: 300 }, view, false)).toMatchObject({ top: 296 });
    expect(positionBeside(low, { width: 200, height: 900 }, view, false)).toMatchObject({
      top: 8,
      maxHeight: 588,
    });
  });
});
