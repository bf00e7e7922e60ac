import { expect, it, vi } from 'vitest';
import { findDeletion, stateEtag } from './object-requests';

/** Ids of deleted objects, newest first. */
const trash = vi.hoisted(() => ({ ids: [] as string[] }));
interface Options {
  params: { query: { page: number; limit: number } };
}
vi.mock('../api/client', () => ({
  sendRequest: (request: unknown) => request,
  api: {
    GET: (_path: string, { params: { query } }: Options) => {
      const { page, limit } = query;
      const items = trash.ids.map((id, index) => ({ entry: String(index), id, by: { name: '' } }));
      const total_pages = Math.ceil(items.length / limit);
      return Promise.resolve({ data: { data: items.slice((page - 1) * limit, page * limit), total_pages } });
    },
  },
}));

it('finds the last deletion of an object behind those of many others', async () => {
  trash.ids = [...Array.from({ length: 2500 }, (_, index) => `a${String(index)}`), 'A', 'a'];
  expect(await findDeletion('post', 'a')).toMatchObject({ data: { entry: '2500' } });
  expect(await findDeletion('post', 'b')).toMatchObject({ data: null });
});

it('derives the same state tag from the tags of all responses about one state', () => {
  for (const tag of ['"587bbf41"', '"587bbf41-br"', '"587bbf41.16e046fd"', 'W/"587bbf41.16e046fd-gzip"'])
    expect(stateEtag(tag)).toBe('"587bbf41"');
});
