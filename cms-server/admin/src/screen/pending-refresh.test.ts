import { beforeEach, describe, expect, it } from 'vitest';
import { PendingRefresh } from './pending-refresh.svelte';
import { queries } from './queries';

describe('pending refresh of a list', () => {
  let page: number;
  let respond: (rows: string[]) => void;
  let pending: PendingRefresh<string[]>;
  const shown = () => queries.getQueryData<string[]>(['list', page]);

  beforeEach(() => {
    page = 1;
    queries.clear();
    queries.setQueryData(['list', 1], ['a', 'b']);
    pending = new PendingRefresh({
      key: () => ['list', page],
      read: () => new Promise((resolve) => (respond = resolve)),
      rows: (rows) => rows,
      isInPlace: (before, next) => before.map((row) => row[0]).join() === next.map((row) => row[0]).join(),
    });
  });

  it('is shown when the user asks for it', async () => {
    const check = pending.check();
    respond(['a', 'b', 'c']);
    await check;
    expect(pending.count).toBe(1);
    expect(shown()).toEqual(['a', 'b']);
    pending.show();
    expect(shown()).toEqual(['a', 'b', 'c']);
    expect(pending.count).toBe(0);
  });

  it('counts a new row that pushes another off the page once', async () => {
    const check = pending.check();
    respond(['c', 'a']);
    await check;
    expect(pending.count).toBe(1);
  });

  it('shows new values of the same rows immediately', async () => {
    const check = pending.check();
    respond(['a', 'b changed']);
    await check;
    expect(pending.count).toBe(0);
    expect(shown()).toEqual(['a', 'b changed']);
  });

  it('of one page does not become rows of another', async () => {
    const check = pending.check();
    respond(['a', 'b', 'c']);
    await check;
    page = 2;
    expect(pending.count).toBe(0);
    pending.show();
    expect(shown()).toBeUndefined();
  });

  it('that arrives after a page change is dropped', async () => {
    const check = pending.check();
    page = 2;
    queries.setQueryData(['list', 2], ['d']);
    respond(['a', 'b', 'c']);
    await check;
    expect(pending.count).toBe(0);
    expect(shown()).toEqual(['d']);
  });
});
