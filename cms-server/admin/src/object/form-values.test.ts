import { expect, it } from 'vitest';
import type { Form } from '../type/form';
import { titleOf } from './form-values';

const form = {
  fields: ['name', 'number', 'tags', 'note'].map((name) => ({ name, title: name !== 'note' })),
} as unknown as Form;

it.each([
  [{ name: 'Kettle', number: 7, tags: ['a', 'b'], note: 'n' }, 'Kettle 7 a, b'],
  [{ name: '', number: 0 }, '0'],
  [{ name: { x: 1 }, tags: [] }, ''],
  [{ name: 'x'.repeat(201) }, `${'x'.repeat(200)}…`],
])('title has the texts and numbers of its parts: %j', (values, title) => {
  expect(titleOf(form, values)).toBe(title);
});
