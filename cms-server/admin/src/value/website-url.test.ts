import { describe, expect, it } from 'vitest';
import { websiteUrl } from './website-url';

const VALUES = { id: 'a b', slug: 'slow-kettle', number: 3, empty: '' };

describe('the URL on the website', () => {
  it.each([
    ['https://www.example.com/blog/{slug}?token={token}', 'https://www.example.com/blog/slow-kettle'],
    ['/posts/{id}', '/posts/a%20b'],
    ['/p?n={number}&preview=1&t={token}#top', '/p?n=3&preview=1#top'],
    ['/draft?token={token}', null],
    ['/{token}/{slug}', null],
    ['/posts/{empty}', null],
    ['/posts/{unknown}', null],
  ])('of %j is %j', (template, expected) => {
    expect(websiteUrl(template, VALUES)).toBe(expected);
  });
});
