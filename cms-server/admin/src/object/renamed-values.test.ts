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

  it.each([
    [
      'items',
      'object',
      [{ title: 'Old', n: 1 }, { headline: 'New' }],
      [{ headline: 'Old', n: 1 }, { headline: 'New' }],
    ],
    ['an object', 'custom', { title: 'Old' }, { headline: 'Old' }],
  ] as const)('move to the new name inside %s', (_case, kind, before, after) => {
    const parts = fieldNamed('parts', { kind, fields: [headline] });
    expect(withNewNames([parts, body], { parts: before, body: 'B' })).toEqual({ parts: after, body: 'B' });
    const unchanged = { parts: after, body: 'B' };
    expect(withNewNames([parts, body], unchanged)).toBe(unchanged);
  });

  it('keep their JSON text', () => {
    const text = '{"title":12345678901234567890,"body":1.0}';
    const values = JSON.parse(text) as Record<string, unknown>;
    recordSourceText(values, text);
    const renamed = withNewNames([headline, body], values);
    expect(exactText(renamed, [renamed])).toBe('{"headline":12345678901234567890,"body":1.0}');
  });

  it('keep their JSON text inside items', () => {
    const text = '{"parts":[{"title":1.0,"n":12345678901234567890},7],"body":2.0}';
    const values = JSON.parse(text) as Record<string, unknown>;
    recordSourceText(values, text);
    const parts = fieldNamed('parts', { kind: 'object', fields: [headline] });
    const renamed = withNewNames([parts, body], values);
    expect(exactText(renamed, [renamed])).toBe(text.replace('title', 'headline'));
  });
});
