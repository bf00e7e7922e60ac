import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainLines, withLineEnds } from './line-ends';

describe('line ends of an edited text', () => {
  it('stay where nothing was typed', () => {
    const stored = 'one\r\ntwo\nthree\rfour';
    expect(withLineEnds(stored, 'one\ntwo!\nthree\nfour')).toBe('one\r\ntwo!\nthree\rfour');
    expect(withLineEnds(stored, 'one\ntwo\nthree\nfour\nfive')).toBe('one\r\ntwo\nthree\rfour\r\nfive');
  });

  it('never change the words', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '\r', '\n', '\r\n')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (stored, edited) => {
        expect(plainLines(withLineEnds(stored, edited))).toBe(plainLines(edited));
        expect(withLineEnds(stored, plainLines(stored))).toBe(stored);
      }),
      { numRuns: 1000 },
    );
  });
});
