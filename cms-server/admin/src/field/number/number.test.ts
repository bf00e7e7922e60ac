import { describe, expect, it } from 'vitest';
import { parseNumber } from './number';

describe('number', () => {
  it.each([
    ['12.5', 'number', 12.5],
    ['12,5', 'number', 12.5],
    [' -3 ', 'number', -3],
    ['1e3', 'number', 1000],
    ['.5', 'number', 0.5],
    ['7', 'integer', 7],
    ['7.5', 'integer', null],
    ['7,0', 'integer', 7],
    ['1.000,5', 'number', null],
    ['twelve', 'number', null],
    ['', 'number', null],
    ['1e999', 'number', null],
  ])('reads %j as %s', (text, type, expected) => {
    expect(parseNumber(text, type)).toBe(expected);
  });
});
