import { describe, expect, it } from 'vitest';
import { numberText, parseNumber } from './number';

describe('number', () => {
  it.each([
    ['12.5', 'number', 12.5],
    [' -3 ', 'number', -3],
    ['1e3', 'number', 1000],
    ['.5', 'number', 0.5],
    ['7', 'integer', 7],
    ['7.5', 'integer', null],
    ['1.000,5', 'number', null],
    ['twelve', 'number', null],
    ['', 'number', null],
    ['1e999', 'number', null],
    ['0.1000', 'number', 0.1],
    ['1200e-2', 'number', 12],
    ['0.30000000000000004', 'number', 0.1 + 0.2],
    ['3.14159265358979323846', 'number', null],
    ['9007199254740993', 'integer', null],
  ])('reads %j as %s', (text, type, expected) => {
    expect(parseNumber(text, type, 'en')).toBe(expected);
    expect(parseNumber(text, type, 'de')).toBe(expected);
  });

  it('reads a comma as the decimal sign only in languages that have it', () => {
    expect(parseNumber('12,5', 'number', 'de')).toBe(12.5);
    expect(parseNumber('7,0', 'integer', 'de')).toBe(7);
    expect(parseNumber('1,000', 'number', 'en')).toBeNull();
  });

  it.each([
    ['1.000', null],
    ['-12.125', null],
    ['1.000.000', null],
    ['1,000', 1],
    ['0.125', 0.125],
    ['1.25', 1.25],
    ['1000.125', 1000.125],
  ])('reads %j in German as %s', (text, expected) => {
    expect(parseNumber(text, 'number', 'de')).toBe(expected);
  });

  it.each([1.125, -0.5, 1000, 1234567.125, 1e21, 1.5e-7])('reads %d as it is shown', (value) => {
    for (const language of ['en', 'de']) {
      expect(parseNumber(numberText(value, language), 'number', language)).toBe(value);
    }
    expect(numberText(1.125, 'de')).toBe('1,125');
  });
});
