import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitKeys, insertedKeys } from './item-keys';
import { without } from './list';

describe('keys of list items', () => {
  it('are unique after any changes', () => {
    const step = fc.record({
      kind: fc.constantFrom('insert', 'remove', 'fit'),
      at: fc.nat(8),
      count: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let keys: number[] = [];
        for (const { kind, at, count } of steps) {
          if (kind === 'insert') keys = insertedKeys(keys, Math.min(at, keys.length), count);
          else if (kind === 'remove') keys = without(keys, at);
          else keys = fitKeys(keys, at);
          expect(new Set(keys).size).toBe(keys.length);
        }
      }),
    );
  });

  it('stay with the items that are known', () => {
    expect(fitKeys([4, 2], 3).slice(0, 2)).toEqual([4, 2]);
    expect(insertedKeys([4, 2], 1, 1)).toEqual([4, 5, 2]);
  });
});
