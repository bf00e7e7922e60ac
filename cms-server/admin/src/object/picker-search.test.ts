import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PickerSearch } from './picker-search.svelte';
import type { SummaryQuery } from './summary';

const responses = vi.hoisted(() => new Map<string, () => void>());

vi.mock('./summary', () => ({
  searchSummaries: ({ text, signal }: SummaryQuery) =>
    new Promise((done, failed) => {
      signal?.addEventListener('abort', () => failed(new DOMException('', 'AbortError')));
      const summary = { type: 'post', id: text, title: text };
      responses.set(text, () => done({ data: { summaries: [summary], total: 1, more: false }, etag: null }));
    }),
}));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('does not offer results of the previous text while a longer one is typed', async () => {
  const search = new PickerSearch(() => ({ types: ['post'] }));
  search.search('wi');
  await vi.advanceTimersByTimeAsync(200);
  search.search('winter');
  responses.get('wi')?.();
  await vi.advanceTimersByTimeAsync(10);
  expect(search.loading).toBe(true);
  expect(search.results).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  responses.get('winter')?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(search.results.map(({ id }) => id)).toEqual(['winter']);
});
