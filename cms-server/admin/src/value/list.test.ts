import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inserted, moved, partsOf, replaced, without } from './list';

describe('list', () => {
  it('moves an item and keeps the order of the others', () => {
    expect(moved(['a', 'b', 'c', 'd'], 0, 2)).toEqual(['b', 'c', 'a', 'd']);
    expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
    expect(moved(['a', 'b'], 0, 99)).toEqual(['b', 'a']);
  });

  it('loses and invents nothing when it moves', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.nat(20), fc.nat(20), (list, from, to) => {
        expect([...moved(list, from, to)].sort()).toEqual([...list].sort());
      }),
    );
  });

  it('undoes a removal by inserting at the same place', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.nat(), (list, seed) => {
        const index = seed % list.length;
        expect(inserted(without(list, index), index, ...list.slice(index, index + 1))).toEqual(list);
      }),
    );
  });

  it('replaces one item', () => {
    expect(replaced([1, 2, 3], 1, 9)).toEqual([1, 9, 3]);
  });

  it('has parts of at most one size', () => {
    expect(partsOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(partsOf([], 2)).toEqual([]);
  });
});
