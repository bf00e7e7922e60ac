import { describe, expect, it } from 'vitest';
import { readContentType } from '../../type/definition';
import { formOf, type Field } from '../../type/form';
import { isTable, itemsWithErrors, newItem, shownFields, titleOf, withProperty } from './items';

function fieldsOf(properties: Record<string, unknown>, schema: Record<string, unknown> = {}): Field[] {
  const names = Object.keys(properties);
  return formOf(
    readContentType({
      name: 'x',
      schemaDefinition: { properties: Object.fromEntries(names.map((name) => [name, schema[name] ?? {}])) },
      metaDefinition: { order: names, propertiesConfig: properties },
    }),
  ).fields;
}
const text = { inputType: 'text' };

describe('object list', () => {
  it('shows few short properties as a table', () => {
    expect(isTable(fieldsOf({ a: text, b: { inputType: 'number' } }))).toBe(true);
    expect(isTable(fieldsOf({ a: text, b: { inputType: 'richtext' } }))).toBe(false);
    expect(isTable(fieldsOf({ a: text, b: text, c: text, d: text, e: text, f: text }))).toBe(false);
    expect(isTable(fieldsOf({ a: { inputType: 'select', multiple: true } }))).toBe(false);
  });

  it('keeps properties that the type does not declare', () => {
    expect(withProperty({ other: 1, a: 'x' }, 'a', 'y')).toEqual({ other: 1, a: 'y' });
    expect(withProperty({ other: 1, a: 'x' }, 'a', undefined)).toEqual({ other: 1 });
    expect(withProperty('damaged', 'a', 'y')).toEqual({ a: 'y' });
  });

  it('starts new items with their defaults', () => {
    expect(newItem(fieldsOf({ a: text, b: text }, { b: { default: ['x'] } }))).toEqual({ b: ['x'] });
  });

  it('names an item by its title, else by its first text', () => {
    const fields = fieldsOf({ a: text, b: { ...text, isTitlePart: true }, c: { inputType: 'number' } });
    expect(titleOf({ a: 'first', b: 'title' }, fields)).toBe('title');
    expect(titleOf({ a: '<b>first</b>' }, fields).trim()).toBe('first');
    expect(titleOf({ c: 0 }, fields)).toBe('0');
    expect(titleOf(null, fields)).toBe('');
  });

  it('finds validation errors by path', () => {
    const errors = { 'list[0].name': ['a', 'b'], 'list[10].sub[1].x': ['c'], 'lists[3]': ['d'], list: ['e'] };
    expect(itemsWithErrors(errors, 'list')).toEqual([0, 10]);
  });
});

it('shows a field of an item only where its condition is met, or it has an error', () => {
  const fields = fieldsOf({
    kind: { inputType: 'text' },
    note: { inputType: 'text', admin: { showIf: { property: 'kind', equals: 'a' } } },
  });
  const names = (item: unknown, errors = {}) =>
    shownFields(fields, item, errors, 'list[0]').map(({ name }) => name);
  expect(names({ kind: 'a' })).toEqual(['kind', 'note']);
  expect(names({ kind: 'b' })).toEqual(['kind']);
  expect(names({ kind: 'b' }, { 'list[0].note': ['Wrong'] })).toEqual(['kind', 'note']);
});
