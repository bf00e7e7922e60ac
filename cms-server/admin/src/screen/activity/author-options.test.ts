// Authors that the filter offers.
import { expect, test } from 'vitest';
import { authorOptions } from './author-options';

const known = {
  me: { key: '1', label: 'Ada' },
  users: [
    { key: '1', label: 'Ada', detail: 'ada@example.com' },
    { key: '2', label: 'Ben', detail: 'ben@example.com' },
  ],
  keys: [{ key: '3', label: 'website', detail: 'Key' }],
  seen: [
    { key: '2', label: 'Ben' },
    { key: '4', label: 'Removed user' },
  ],
};
const offered = (words: string) => authorOptions(words, known).map(({ key }) => key);

test('authors are offered once, the signed-in user first', () => {
  expect(offered('')).toEqual(['1', '2', '3', '4']);
});

test('authors are found by a part of name or address, in any letter case', () => {
  expect(offered('BEN@')).toEqual(['2']);
  expect(offered('site')).toEqual(['3']);
  expect(offered(' removed ')).toEqual(['4']);
  expect(offered('nobody')).toEqual([]);
});

test('authors are those of the shown changes if the user may not list users', () => {
  expect(authorOptions('', { ...known, me: null, users: [], keys: [] }).map(({ key }) => key)).toEqual([
    '2',
    '4',
  ]);
});
