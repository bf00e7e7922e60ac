// Validation errors are found in the text that was typed.
import { expect, test } from 'vitest';
import { lineOf } from './json-line';

const value = { id: 'x', states: ['a', 'b'], transitions: [{ froms: ['a'], tos: ['z'] }] };

test('finds the line of a path', () => {
  const lines = JSON.stringify(value, null, 2).split('\n');
  expect(lines[(lineOf(value, 'id') ?? 0) - 1]).toContain('"id"');
  expect(lines[(lineOf(value, 'states[1]') ?? 0) - 1]).toContain('"b"');
  expect(lines[(lineOf(value, 'transitions[0].tos') ?? 0) - 1]).toContain('"tos"');
  expect(lineOf(value, 'name')).toBeNull();
  expect(lineOf(value, 'states[7]')).toBeNull();
});
