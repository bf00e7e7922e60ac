// Options that an edit removes, and the options that objects get instead.
import { describe, expect, test } from 'vitest';
import { newProperty, withKind, type PropertyDraft } from '../../type/property-draft';
import { newDraft } from '../../type/type-draft';
import { chosenChanges, lostOptions, optionFilter, optionKey } from './lost-options';

function choice(
  stored: string[],
  options: string[],
  kind: 'select' | 'selectMany' = 'select',
): PropertyDraft {
  const property = newProperty(kind, 'roast');
  const was = { ...property.config, options: stored };
  return {
    ...property,
    config: { ...property.config, options },
    stored: { name: 'old_roast', schema: property.schema, config: was, required: false },
  };
}

describe('options that an edit removes', () => {
  test('are those that are stored and no longer offered', () => {
    expect(lostOptions(choice(['a', 'b'], ['b', 'c']))).toMatchObject([
      { property: 'roast', storedPath: 'old_roast', value: 'a', isList: false },
    ]);
    expect(lostOptions(choice(['a', 'b'], ['b', 'a']))).toEqual([]);
    expect(lostOptions({ ...choice(['a'], ['b']), removed: true })).toEqual([]);
    expect(lostOptions({ ...choice(['a'], ['b']), stored: null })).toEqual([]);
  });

  test('are none when the property is no choice any more', () => {
    expect(lostOptions(withKind(choice(['a'], ['b']), 'text'))).toEqual([]);
  });

  test('are found in lists too', () => {
    const [option] = lostOptions(choice(['a'], ['b'], 'selectMany'));
    if (!option) throw new Error('none');
    expect(optionFilter('roast', option)).toEqual({ roast: { type: 'includes', filter: ['a'] } });
  });

  test('are found in the items of a list, by their path', () => {
    const item = { ...choice(['a', 'b'], ['b']), name: 'kind' };
    const rows: PropertyDraft = { ...newProperty('object', 'rows'), items: [item] };
    rows.stored = { name: 'lines', schema: rows.schema, config: rows.config, required: false };
    const [option] = lostOptions(rows);
    expect(option).toMatchObject({
      property: 'rows[*].kind',
      storedPath: 'lines[*].old_roast',
      value: 'a',
      isNested: true,
      choices: [{ value: 'b' }],
    });
    expect(lostOptions({ ...rows, stored: null })).toEqual([]);
    const draft = { ...newDraft(), properties: [rows] };
    const chosen = { [optionKey({ property: 'rows[*].kind', value: 'a' })]: 'b' };
    expect(chosenChanges('tea', draft, chosen)).toMatchObject([{ to: 'b' }]);
  });

  test('become another option only where the user chose one that exists', () => {
    const property = choice(['a', 'b'], ['c']);
    const draft = { ...newDraft(), properties: [property] };
    const key = (value: string) => optionKey({ property: 'roast', value });
    const chosen = { [key('a')]: 'c', [key('b')]: 'gone', [key('x')]: 'c' };
    expect(chosenChanges('tea', draft, chosen)).toMatchObject([
      { type: 'tea', option: { value: 'a' }, to: 'c' },
    ]);
  });
});
