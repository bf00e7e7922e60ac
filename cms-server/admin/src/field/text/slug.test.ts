import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slugOf } from './slug';

describe('slug suggestion', () => {
  // What the server has generated from these texts.
  it.each([
    ['Hello World', 'hello-world'],
    ['  --Łódź & Zürich!--  ', 'lodz-zurich'],
    ['a_b.c/d', 'a-b-c-d'],
    ['100 %', '100'],
    ['!?', ''],
    ['Straße – “Ærø” naïve…', 'strasse-aero-naive'],
    ['Привет мир', 'privet-mir'],
    ['Αθήνα', 'athena'],
    ['Giá 5 €', 'gia-5-eur'],
    ['The ten o’clock boat', 'the-ten-o-clock-boat'],
    ['co\u00adop', 'coop'],
  ])('of %j is %j', (text, expected) => {
    expect(slugOf(text)).toBe(expected);
  });

  it('is left to the server for other writing systems', () => {
    expect(slugOf('北京')).toBeNull();
    expect(slugOf('Tea 🍵')).toBeNull();
  });

  it('has only words and single hyphens', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(slugOf(text) ?? '').toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/);
      }),
    );
  });
});
