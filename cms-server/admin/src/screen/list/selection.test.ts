import { describe, expect, it } from 'vitest';
import { Selection } from './selection.svelte';

const page = ['a', 'b', 'c', 'd'].map((id) => ({ id, title: id.toUpperCase() }));
const row = (index: number) => page[index] ?? { id: '', title: '' };
const idsOf = ({ rows }: Selection) => [...rows.keys()];

describe('selecting rows', () => {
  it('extends from the previously toggled row with Shift', () => {
    const selection = new Selection();
    selection.toggle(row(3), page);
    selection.toggle(row(1), page, true);
    expect(idsOf(selection).sort()).toEqual(['b', 'c', 'd']);
    selection.toggle(row(2), page);
    expect(idsOf(selection).sort()).toEqual(['b', 'd']);
  });

  it('keeps rows of other pages', () => {
    const selection = new Selection();
    selection.set([{ id: 'x', title: 'X' }], true);
    selection.set(page, true);
    selection.set(page, false);
    expect(idsOf(selection)).toEqual(['x']);
  });

  it('leaves "all that match" when a row is deselected', () => {
    const selection = new Selection();
    selection.all = true;
    selection.toggle(row(0), page);
    expect([selection.all, selection.count]).toEqual([false, 0]);
  });
});
