import { expect, it, vi } from 'vitest';
import { differsFromList, readLiveIds } from './requests';
import { readStates } from './undo';

interface Options {
  params: { query: { 'ids[]': string[] } };
}

const urls = vi.hoisted(() => [] as string[]);

/** Responds that each object exists. */
vi.mock('../../../api/client', () => {
  const send = (options: Options) => {
    const ids = options.params.query['ids[]'];
    urls.push(ids.map((id) => `ids%5B%5D=${id}`).join('&'));
    return Promise.resolve({ data: { data: ids.map((id) => ({ id })) }, etag: null });
  };
  return {
    api: { GET: (_path: string, options: Options) => send(options) },
    sendRequest: (request: unknown) => request,
    sendExact: (request: unknown) => request,
  };
});

it('reads many objects by URLs that proxies accept', async () => {
  const ids = Array.from(
    { length: 250 },
    (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  );
  const live = await readLiveIds('news', ids);
  const before = await readStates('news', ids, []);
  expect([live, before].map((result) => ('data' in result ? result.data.size : 0))).toEqual([250, 250]);
  expect(Math.max(...urls.map((url) => url.length))).toBeLessThan(7000);
});

it('an action on all that match differs from a filtered search with another number of objects', () => {
  const differs = (words: string, filters: Record<string, unknown>, total: number) =>
    differsFromList({ kind: 'match', words, filters, total }, 5);
  const filters = { id: { type: 'equals', filter: 'a' } };
  expect(differs('words', filters, 4)).toBe(true);
  expect(differs('words', filters, 5)).toBe(false);
  expect(differs('words', {}, 4)).toBe(false);
  expect(differs('', filters, 4)).toBe(false);
  // The search counts no more.
  expect(differs('words', filters, 10_000)).toBe(false);
});
