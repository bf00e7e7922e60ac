import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEqual } from '../value/equal';
import type { Values } from './form-state.svelte';
import { changedNames } from './form-state.svelte';
import { merge } from './merge';

const names = ['title', 'slug', 'price', 'tags', 'content', '__proto'];
const value = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.integer({ min: 0, max: 3 }),
  fc.boolean(),
  fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 1 })),
);
const values: fc.Arbitrary<Values> = fc.dictionary(fc.constantFrom(...names), value, {
  maxKeys: names.length,
});

describe('merge', () => {
  it('keeps every change of mine', () => {
    fc.assert(
      fc.property(values, values, values, (base, mine, theirs) => {
        const { values: merged } = merge(base, mine, theirs);
        for (const name of changedNames(base, mine)) expect(merged[name]).toEqual(mine[name]);
      }),
    );
  });

  it('keeps every change of theirs, or reports it as a conflict', () => {
    fc.assert(
      fc.property(values, values, values, (base, mine, theirs) => {
        const { values: merged, conflicts } = merge(base, mine, theirs);
        for (const name of changedNames(base, theirs)) {
          const conflict = conflicts.find((candidate) => candidate.name === name);
          if (conflict) expect(conflict.theirs).toEqual(theirs[name]);
          else expect(merged[name]).toEqual(theirs[name]);
        }
      }),
    );
  });

  it('gives the same result for disjoint changes in either order', () => {
    fc.assert(
      fc.property(values, values, values, (base, mine, theirs) => {
        const first = merge(base, mine, theirs);
        const second = merge(base, theirs, mine);
        fc.pre(first.conflicts.length === 0);
        expect(second.conflicts).toEqual([]);
        expect(isEqual(first.values, second.values)).toBe(true);
      }),
    );
  });

  it('keeps the properties that neither side changed', () => {
    fc.assert(
      fc.property(values, values, values, (base, mine, theirs) => {
        const touched = new Set([...changedNames(base, mine), ...changedNames(base, theirs)]);
        const { values: merged } = merge(base, mine, theirs);
        for (const name of names) if (!touched.has(name)) expect(merged[name]).toEqual(base[name]);
      }),
    );
  });

  it('asks about a property that I removed and they changed', () => {
    const result = merge({ a: 1, b: 1 }, { b: 1 }, { a: 2, b: 1 });
    expect(result.conflicts).toEqual([{ name: 'a', before: 1, theirs: 2, mine: undefined }]);
    expect(result.values).toEqual({ b: 1 });
  });

  it('sees no conflict when both made the same change', () => {
    expect(merge({ a: 1 }, { a: 2 }, { a: 2 })).toEqual({
      values: { a: 2 },
      theirNames: [],
      myNames: ['a'],
      conflicts: [],
    });
  });
});
