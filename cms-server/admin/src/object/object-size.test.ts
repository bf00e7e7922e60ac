import fc from 'fast-check';
import { expect, it } from 'vitest';
import { objectSize } from './object-size';

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

it('counts the bytes of compact JSON', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (values) => {
      expect(objectSize(values).bytes).toBe(bytesOf(values));
    }),
  );
});

it('names the property that takes most', () => {
  expect(objectSize({ title: 'Boat', text: 'ä'.repeat(100), tags: [] }).largest.name).toBe('text');
});
