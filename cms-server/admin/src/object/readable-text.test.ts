import { describe, expect, it } from 'vitest';
import type { Field } from '../type/form';
import { fieldNamed } from '../type/test-fields';
import { readableText } from './readable-text';

const URL = '/api/v1/content/author/a1';
const option = { label: 'Large', value: 'l' };
const nested = [
  fieldNamed('name', { label: 'Name' }),
  fieldNamed('text', { label: 'Text', kind: 'richtext' }),
];

const cases: [name: string, field: Partial<Field>, value: unknown, text: string][] = [
  ['a text', {}, 'a <b>', 'a <b>'],
  ['a rich text', { kind: 'richtext' }, '<h2>Title</h2><p>a <b>b</b> &amp; c</p>', 'Title\na b & c'],
  [
    'blocks',
    { kind: 'block' },
    { time: 1, blocks: [{ type: 'paragraph', data: { text: 'a<br>b' } }], version: '2' },
    'a b',
  ],
  [
    'links',
    { kind: 'datasource' },
    [{ type: 'internal', dataUrl: URL }, { dataUrl: `${URL}2` }],
    'Ann\nauthor / a12',
  ],
  ['an option', { kind: 'select', options: [option] }, 'l', 'Large'],
  [
    'items',
    { kind: 'object', fields: nested },
    [{ name: 'A', text: '<p>x</p>' }, { name: 'B' }],
    'Name: A\nText: x\nName: B',
  ],
  ['an object', { kind: 'custom', fields: nested }, { name: 'A' }, 'Name: A'],
  ['a position', { kind: 'geo' }, { lat: 52.1, lon: 21 }, '52.1, 21'],
  ['a password', { password: true }, 'secret', '••••'],
  ['JSON', { kind: 'custom' }, { a: 1 }, '{\n  "a": 1\n}'],
];

describe('readable text', () => {
  it.each(cases)('of %s', (_name, field, value, text) =>
    expect(readableText(fieldNamed('x', field), value, new Map([[URL, 'Ann']]))).toBe(text),
  );
});
