import { describe, expect, it } from 'vitest';
import { fieldNamed } from './test-fields';
import { valueErrors } from './value-errors';

const number = (type: string) => fieldNamed('n', { kind: 'number', type });

describe('errors of numbers and points', () => {
  it('have texts of the page', () => {
    expect(valueErrors([number('integer')], { n: '1.5' })).toEqual({ n: ['Use a whole number.'] });
    const withComma = { n: ['Write 1000 or 1.25, without commas.'] };
    expect(valueErrors([number('number')], { n: '1,25' })).toEqual(withComma);
    expect(valueErrors([number('integer')], { n: '1,000' })).toEqual(withComma);
    expect(valueErrors([number('number')], { n: '1,000,000' })).toEqual(withComma);
    expect(valueErrors([number('number')], { n: 'many' })).toEqual({ n: ['This is not a number.'] });
    expect(valueErrors([number('integer')], { n: '9007199254740993' })).toEqual({
      n: ['This number has too many digits to be stored exactly.'],
    });
    expect(valueErrors([number('number')], { n: '3.14159265358979323846' })).toEqual({
      n: ['This number has too many digits to be stored exactly.'],
    });
    expect(valueErrors([number('integer')], { n: 5 })).toEqual({});
  });

  it('have the path of the missing number, also inside lists', () => {
    const place = fieldNamed('place', { kind: 'geo' });
    expect(valueErrors([place], { place: { lat: 1, lon: '' } })).toEqual({
      'place.lon': ['A point needs both numbers.'],
    });
    const list = fieldNamed('list', { kind: 'object', fields: [number('integer')] });
    expect(valueErrors([list], { list: [{ n: 1 }, { n: 'x' }] })).toEqual({
      'list[1].n': ['This is not a number.'],
    });
  });
});
