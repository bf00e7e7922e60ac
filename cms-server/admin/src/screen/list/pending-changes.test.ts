import { beforeEach, describe, expect, it } from 'vitest';
import { PendingChanges } from './pending-changes.svelte';
import type { Request, Rows } from './rows';

const rows = (...ids: string[]): Rows => ({
  objects: ids.map((id) => ({ id })),
  total: ids.length,
  page: 1,
  pages: 1,
  isIncomplete: false,
});
const requestOf = (page: number): Request => ({
  type: 'post',
  words: '',
  filters: {},
  order: { path: 'title', descending: false },
  page,
  limit: 50,
  fields: [],
  hydrate: 0,
});

describe('pending changes of a list', () => {
  let request: Request;
  let shown: Rows | undefined;
  let replaced: [number, Rows][];
  let respond: (rows: Rows) => void;
  let pendingChanges: PendingChanges;

  beforeEach(() => {
    request = requestOf(1);
    shown = rows('a', 'b');
    replaced = [];
    pendingChanges = new PendingChanges(
      () => request,
      () => shown,
      () => new Promise((resolve) => (respond = resolve)),
      (of, next) => replaced.push([of.page, next]),
    );
  });

  it('are shown when the user asks for them', async () => {
    const check = pendingChanges.check();
    respond(rows('a', 'b', 'c'));
    await check;
    expect(pendingChanges.count).toBe(1);
    pendingChanges.show();
    expect(replaced).toEqual([[1, rows('a', 'b', 'c')]]);
    expect(pendingChanges.count).toBe(0);
  });

  it('of one page do not become rows of another', async () => {
    const check = pendingChanges.check();
    respond(rows('a', 'b', 'c'));
    await check;
    request = requestOf(2);
    expect(pendingChanges.count).toBe(0);
    pendingChanges.show();
    expect(replaced).toEqual([]);
  });

  it('that arrive after a page change are dropped, although the earlier rows are still shown', async () => {
    const check = pendingChanges.check();
    request = requestOf(2);
    respond(rows('a', 'b', 'c'));
    await check;
    expect(pendingChanges.count).toBe(0);
    expect(replaced).toEqual([]);
  });
});
