import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactValue, phrase, queryFor, splitPrefix, wordsQuery } from './search-text';

describe('a search text', () => {
  it.each([
    ['', '*'],
    ['  ', '*'],
    ['kettle', '+(kettle OR kettle*)'],
    ['slow  ket', '+(slow OR slow*) +(ket OR ket*)'],
    ["o'clock,", '+(o OR o*) +(clock OR clock*)'],
    ['tea & co', '+(tea OR tea*) +(co OR co*)'],
    ['東京', '+"東京"'],
    ['"slow kettle"', '"slow kettle"'],
    ['name:kettle', 'name:kettle'],
    ['tea NOT green', 'tea NOT green'],
    ['-green tea', '-green tea'],
    ['&', '&'],
  ])('%j is searched as %j', (text, query) => {
    expect(queryFor(text)).toBe(query);
  });

  it('is never an empty query', () => {
    fc.assert(fc.property(fc.string(), (text) => queryFor(text) !== ''));
  });

  it('stays literal in a phrase', () => {
    expect(phrase('a "b" \\')).toBe('"a \\"b\\" \\\\"');
    expect(exactValue('a TO TO "b"')).toBe('["a \\TO \\TO \\"b\\"" TO "a \\TO \\TO \\"b\\""]');
    expect(exactValue(-5)).toBe('[-5 TO -5]');
  });
});

describe('words of a text', () => {
  it.each([
    ['', '*'],
    ['slow ket', '+(slow OR slow*) +(ket OR ket*)'],
    ['Zürich', '+(Zürich OR Zürich*)'],
    ['foo-bar', '+(foo OR foo*) +(bar OR bar*)'],
    ['北京', '+"北京"'],
    ['!?', null],
    ['a AND (b', '+(a OR a*) +(and OR and*) +(b OR b*)'],
  ])('%j are searched as %j', (text, expected) => {
    expect(wordsQuery(text)).toBe(expected);
  });

  it.each([
    [42, '+the +and +(slow OR slow*) +(boat OR boat*) +(ket OR ket*)'],
    [101, '+the +and +slow +boat +(ket OR ket*)'],
  ])(
    'are searched by their beginnings as far as the server allows it in %i properties',
    (fields, expected) => {
      expect(wordsQuery('the AND slow boat ket', fields)).toBe(expected);
    },
  );

  it('never are operators', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const query = wordsQuery(text);
        if (query === null || query === '*') return;
        const word = '[\\p{L}\\p{N}\\p{M}]+';
        expect(query).toMatch(new RegExp(`^(\\+("${word}"|\\(${word} OR ${word}\\*\\))( |$))+$`, 'u'));
        expect(query.replaceAll(' OR ', '')).not.toMatch(/(?<![\p{L}\p{N}])(AND|OR|NOT)(?![\p{L}\p{N}])/u);
      }),
    );
  });
});

describe('a prefix', () => {
  const known = (name: string) => (name === 'post' ? 'post' : undefined);
  it.each([
    ['post: kettle', 'post', 'kettle'],
    ['post:', 'post', ''],
    ['kettle', undefined, 'kettle'],
    ['other: kettle', undefined, 'other: kettle'],
    [': kettle', undefined, ': kettle'],
  ])('%j names %j', (text, scope, rest) => {
    expect(splitPrefix(text, known)).toEqual({ scope, rest });
  });
});
