import { expect, it } from 'vitest';
import { fieldNamed } from '../type/test-fields';
import { titleOf } from './form-values';

const fields = [
  fieldNamed('name', { title: true }),
  fieldNamed('number', { kind: 'number', type: 'number', title: true }),
  fieldNamed('tags', { kind: 'select', type: 'array', multiple: true, title: true }),
  fieldNamed('body', { kind: 'richtext', title: true }),
  fieldNamed('note'),
];

it.each([
  [{ name: 'Kettle', number: 7, tags: ['a', 'b'], note: 'n' }, 'Kettle 7 a, b'],
  [{ name: '', number: 0 }, '0'],
  [{ name: 'Kettle', body: '<p>b</p>' }, 'Kettle'],
  [{ name: { x: 1 }, tags: [] }, ''],
  [{ name: 'x'.repeat(201) }, `${'x'.repeat(200)}…`],
])('title has the texts and numbers of its parts: %j', (values, title) => {
  expect(titleOf({ fields, tabs: [] }, values)).toBe(title);
});
