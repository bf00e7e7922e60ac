import { expect, it } from 'vitest';
import { linksIn } from './links';

const link = (id: string) => ({ type: 'internal', dataUrl: `/api/v1/content/author/${id}` });

it('finds links in lists and nested objects, each once', () => {
  const values = { by: [link('a')], list: [{ person: [link('b')] }, { person: [link('a')] }] };
  expect(linksIn(values)).toEqual([link('a').dataUrl, link('b').dataUrl]);
});
it('leaves out external links', () => {
  expect(linksIn([{ type: 'external', dataUrl: 'https://example.com/' }])).toEqual([]);
});
