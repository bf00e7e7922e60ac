import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phrase, queryFor, splitPrefix } from './search-text';

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
