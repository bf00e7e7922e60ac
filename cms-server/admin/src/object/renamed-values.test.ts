import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../type/test-fields';
import { exactText, recordSourceText } from '../value/exact-json';
import { withNewNames } from './renamed-values';

const headline = fieldNamed('headline', { oldName: 'title' });
const body = fieldNamed('body');

describe('values of an earlier state', () => {
  it.each([
    ['move to the new name', [headline, body], { title: 'Old', body: 'B' }, { headline: 'Old', body: 'B' }],
    ['stay without the old property', [headline, body], { body: 'B' }, { body: 'B' }],
    ['stay if the new property has a value', [headline], { title: 'Old', headline: 'New' }, null],
    [
      'stay if another property has the old name now',
      [headline, fieldNamed('title')],
      { title: 'Old' },
      null,
    ],
  ])('%s', (_case, fields, values, expected) => {
    expect(withNewNames(fields, values)).toEqual(expected ?? values);
  });

  it('keep their JSON text', () => {
    const text = '{"title":12345678901234567890,"body":1.0}';
    const values = JSON.parse(text) as Record<string, unknown>;
    recordSourceText(values, text);
    const renamed = withNewNames([headline, body], values);
    expect(exactText(renamed, [renamed])).toBe('{"headline":12345678901234567890,"body":1.0}');
  });
});
