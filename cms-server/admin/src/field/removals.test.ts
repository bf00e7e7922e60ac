import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitKeys, insertedKeys } from '../value/item-keys';
import { inserted, without } from '../value/list';
import { Removals } from './removals';

/** A control with a list of names, and the messages with Undo that it offers. */
class ListControl {
  keys: number[];
  readonly offered: { name: string; undo: () => void; withdrawn: boolean }[] = [];
  readonly removals = new Removals(
    () => this.keys,
    (name, undo) => {
      const offer = { name, undo, withdrawn: false };
      this.offered.push(offer);
      return () => (offer.withdrawn = true);
    },
  );

  constructor(public items: string[]) {
    this.keys = fitKeys([], items.length);
  }

  set(items: string[], keys: number[]): void {
    this.items = items;
    this.keys = keys;
    this.removals.written(items);
    this.removals.follow(items);
  }

  remove(name: string): void {
    const index = this.items.indexOf(name);
    this.removals.add(index, name, name, (at, item, key) =>
      this.set(inserted(this.items, at, String(item)), inserted(this.keys, at, key)),
    );
    this.set(without(this.items, index), without(this.keys, index));
  }

  undo(name: string): void {
    this.offered.find((offer) => offer.name === name)?.undo();
  }
}

const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4'];

describe('removed items', () => {
  it('are restored in the order of the list, whatever the order of removals and undos', () => {
    const order = fc.shuffledSubarray(NAMES, { minLength: NAMES.length });
    fc.assert(
      fc.property(order, order, fc.nat(NAMES.length), (removed, restored, count) => {
        const list = new ListControl(NAMES);
        const some = removed.slice(0, count);
        some.forEach((name) => list.remove(name));
        restored.filter((name) => some.includes(name)).forEach((name) => list.undo(name));
        expect(list.items).toEqual(NAMES);
      }),
    );
  });

  it('are restored in the order of the list if one is restored between two removals', () => {
    const list = new ListControl(NAMES);
    for (const name of ['p2', 'p1', 'p3']) list.remove(name);
    list.undo('p1');
    list.remove('p0');
    for (const name of ['p3', 'p0', 'p2']) list.undo(name);
    expect(list.items).toEqual(NAMES);
  });

  it('reserve their keys: a new item gets another key', () => {
    const list = new ListControl(NAMES);
    list.remove('p4');
    list.set([...list.items, 'new'], insertedKeys(list.keys, 4, 1, list.removals.reserved));
    list.undo('p4');
    expect(list.items).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'new']);
    expect(new Set(list.keys).size).toBe(6);
  });

  it('cannot be restored into a list that something else has replaced', () => {
    const list = new ListControl(NAMES);
    list.remove('p2');
    list.items = NAMES;
    list.removals.follow(NAMES);
    list.undo('p2');
    expect(list.offered[0]?.withdrawn).toBe(true);
    expect(list.items).toEqual(NAMES);
  });

  it('cannot be restored when they are withdrawn', () => {
    const list = new ListControl(NAMES);
    list.remove('p1');
    list.remove('p2');
    list.removals.withdraw((item) => item === 'p1');
    list.undo('p1');
    list.undo('p2');
    expect(list.items).toEqual(['p0', 'p2', 'p3', 'p4']);
  });
});

it('restores items whose keys depend on their places', () => {
  let links = ['a', 'b', 'c'];
  const undo: (() => void)[] = [];
  const removals = new Removals<string>(
    () => links.map((_link, index) => String(index)),
    (_message, run) => {
      undo.push(run);
      return () => undefined;
    },
  );
  removals.add(0, 'a', 'a', (at) => (links = inserted(links, at, 'a')));
  links = ['b', 'c'];
  for (const run of undo) run();
  expect(links).toEqual(['a', 'b', 'c']);
});
