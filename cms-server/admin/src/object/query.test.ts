import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefixQuery } from './query';

describe('search texts of pickers', () => {
  it.each([
    ['', '*'],
    ['  ', '*'],
    ['slow ket', '+slow* +ket*'],
    ['Zürich', '+Zürich*'],
    ['foo-bar', '+foo* +bar*'],
    ['北京', '+"北京"'],
    ['!?', null],
    ['a AND (b', '+a* +AND* +b*'],
  ])('searches %j as %j', (text, expected) => {
    expect(prefixQuery(text)).toBe(expected);
  });

  it('never lets typed marks become operators', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const query = prefixQuery(text);
        if (query === null || query === '*') return;
        expect(query).toMatch(/^(\+("[^"\s]+"|[\p{L}\p{N}\p{M}]+\*)( |$))+$/u);
      }),
    );
  });
});
