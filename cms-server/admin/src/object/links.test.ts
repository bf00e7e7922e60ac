import { expect, it } from 'vitest';
import { linksIn, targetOf } from './links';

const link = (id: string) => ({ type: 'internal', dataUrl: `/api/v1/content/author/${id}` });

it('finds links in lists and nested objects, each once', () => {
  const values = { by: [link('a')], list: [{ person: [link('b')] }, { person: [link('a')] }] };
  expect(linksIn(values)).toEqual([link('a').dataUrl, link('b').dataUrl]);
});
it('leaves out links to other places', () => {
  expect(linksIn([{ type: 'external', dataUrl: 'https://example.com/' }])).toEqual([]);
});
it('reads encoded ids', () => {
  expect(targetOf('/api/v1/content/post/a%20b')).toEqual({ type: 'post', id: 'a b' });
  expect(targetOf('/api/v1/content/post/%zz')).toBeNull();
});
