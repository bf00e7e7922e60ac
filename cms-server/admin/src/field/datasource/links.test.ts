import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listToStore } from '../../type/form';
import { fieldNamed } from '../../type/test-fields';
import { linkTo } from '../../value/link';
import { added, addedInOrder, hasTarget, keysOf, linksOf, targetsOf } from './links';

const post = (id: string) => ({ type: 'post', id });
const links = (...ids: string[]) => ids.map((id) => linkTo('post', id));

describe('relation', () => {
  it('adds each object once and keeps the order', () => {
    expect(added(links('a', 'b'), [post('c'), post('A'), post('c')], true)).toEqual(links('a', 'b', 'c'));
  });

  it('keeps the last added object when it allows one link', () => {
    expect(added(links('a'), [post('b')], false)).toEqual(links('b'));
    expect(added(links('a'), [], false)).toEqual(links('a'));
  });

  it('keeps links that it does not understand', () => {
    const odd = [{ type: 'internal', dataUrl: '/old/form', extra: 1 }, 'text'];
    expect(added(odd, [post('a')], true)).toEqual([...odd, ...links('a')]);
    expect(targetsOf(odd)).toEqual([]);
  });

  it('without links is absent, or an empty list if it is required', () => {
    expect(listToStore([], fieldNamed('to', { type: 'array', required: true, minItems: 0 }))).toEqual([]);
    expect(listToStore([], fieldNamed('to', { type: 'array' }))).toBeUndefined();
    expect(linksOf('damaged')).toEqual([]);
  });

  it('finds another link to the same object, but not to the same address', () => {
    const address = { type: 'external', dataUrl: 'https://e' };
    const [a, upper, b] = links('a', 'A', 'b');
    expect(hasTarget([address, a], upper)).toBe(true);
    expect(hasTarget([address, a], b)).toBe(false);
    expect(hasTarget([address, a], address)).toBe(false);
  });

  it('tells equal links apart', () => {
    expect(new Set(keysOf([...links('a', 'a', 'A'), null, null])).size).toBe(5);
  });

  it('keeps the row of an address while the address is typed', () => {
    const typed = (dataUrl: string) => [...links('a'), { type: 'external', dataUrl }];
    expect(keysOf(typed('https://e'))).toEqual(keysOf(typed('https://ex')));
    expect(new Set(keysOf([...typed(''), ...typed('')])).size).toBe(4);
  });

  it('puts uploads into the order in which they were chosen, whichever ends first', () => {
    fc.assert(
      fc.property(
        // At most 4 letters, so that no ID equals `existing`.
        fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/)),
        fc.infiniteStream(fc.nat()),
        (ids, seeds) => {
          const order = ids.map(post);
          const ends = [...order].sort(() => ((seeds.next().value ?? 0) % 2) - 0.5);
          const result = ends.reduce<unknown[]>(
            (list, file) => addedInOrder(list, file, order),
            links('existing'),
          );
          expect(result).toEqual([...links('existing'), ...links(...ids)]);
        },
      ),
    );
  });
});
