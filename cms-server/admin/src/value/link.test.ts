import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, linkTo, targetKey, targetOf, targetOfUrl } from './link';

const ids = fc.string({ minLength: 1, unit: fc.constantFrom(...'aZ09-_.,:=!?#$%&(`’{}" ') });

describe('links', () => {
  it('names the same object after writing and reading', () => {
    fc.assert(
      fc.property(ids, (id) => {
        expect(targetOf(linkTo('post', id))).toEqual({ type: 'post', id });
      }),
    );
  });

  it.each([
    [
      { type: 'internal', dataUrl: '/api/v1/content/post/a%20b' },
      { type: 'post', id: 'a b' },
    ],
    [
      { type: 'internal', dataUrl: '/api/v1/content/post/a b' },
      { type: 'post', id: 'a b' },
    ],
    [
      { type: 'internal', dataUrl: '/api/v1/content/post/100%' },
      { type: 'post', id: '100%' },
    ],
    [{ type: 'internal', dataUrl: '/api/v1/content/post' }, null],
    [{ type: 'internal', dataUrl: '/elsewhere/post/a' }, null],
    [{ type: 'external', dataUrl: 'https://example.com' }, null],
    [{ dataUrl: 7 }, null],
    ['text', null],
    [null, null],
  ])('reads %j', (link, expected) => {
    expect(targetOf(link)).toEqual(expected);
  });

  it('treats ids as equal whatever the case of letters', () => {
    expect(targetKey({ type: 'post', id: 'Hello' })).toBe(targetKey({ type: 'post', id: 'hello' }));
  });

  it('reads pasted addresses of objects', () => {
    expect(targetOfUrl('http://localhost:8080/admin/c/post/slow%20boat?panel=used')).toEqual({
      type: 'post',
      id: 'slow boat',
    });
    expect(targetOfUrl(' /api/v1/content/_tag/estuary ')).toEqual({ type: '_tag', id: 'estuary' });
    expect(targetOfUrl('http://localhost/admin/media/_media-1?panel=used')).toEqual({
      type: '_media',
      id: '_media-1',
    });
    expect(targetOfUrl('http://localhost/admin/c/post/+new')).toBeNull();
    expect(targetOfUrl('boat')).toBeNull();
  });

  it('reads the address of an external link', () => {
    expect(addressOf({ type: 'external', dataUrl: 'https://example.com' })).toBe('https://example.com');
    expect(addressOf({ type: 'internal', dataUrl: 'x' })).toBeNull();
  });
});
