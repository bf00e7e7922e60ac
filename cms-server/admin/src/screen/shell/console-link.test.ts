// The console begins with the request behind a screen.
import { expect, test } from 'vitest';
import api from '../../../api.json';
import { readOperations } from '../console/operations';
import { valueKey } from '../console/request';
import { consoleQuery } from './console-link';

const link = (path: string) => {
  const url = new URL(path, 'http://localhost');
  return consoleQuery(url.pathname.slice(1).split('/').map(decodeURIComponent), url.searchParams);
};

test('screens of lists and objects open the requests of their data', () => {
  expect(link('/c/post')).toEqual({ op: 'content_list', 'path.contentType': 'post' });
  expect(link('/c/post?order=-published&filters={"a":1}')).toMatchObject({
    conditions: '{"a":1}',
    'query.order_by': 'published',
    'query.order_direction': 'desc',
  });
  expect(link('/c/post?q=boat')).toMatchObject({
    op: 'search',
    'query.q': 'boat',
    'query.content_type[]': 'post',
  });
  expect(link('/c/post/a%20b?panel=versions')).toEqual({
    op: 'content_listVersion',
    'path.contentType': 'post',
    'path.id': 'a b',
  });
  expect(link('/media/x')).toMatchObject({ op: 'content_get', 'path.contentType': '_media', 'path.id': 'x' });
});

test('forms of new objects and types open the request of the list', () => {
  expect(link('/c/post/+new?key=~1')).toEqual({ op: 'content_list', 'path.contentType': 'post' });
  expect(link('/types/+new?draft=1')).toEqual({ op: 'getContentDefinitions' });
});

test('every screen names an operation and parameters that the server has', () => {
  const operations = readOperations(api);
  const paths =
    '/c/post /c/post/x /c/post/x?panel=used /media /media/x /search?q=a /activity /trash?q=a /schedule'
      .concat(' / /c/post/x/compare?from=1&to=2 /c/post/x/compare /types/+plan /system /me')
      .concat(' /types /types/post /users?q=a /users/x /keys /webhooks /webhooks/x /workflows')
      .split(' ');
  for (const path of paths) {
    const { op, ...values } = link(path);
    const operation = operations.find(({ id }) => id === op);
    expect(operation, path).toBeDefined();
    const known = operation?.parameters.map(valueKey) ?? [];
    expect(
      Object.keys(values).filter((key) => !known.includes(key)),
      path,
    ).toEqual([]);
  }
  expect(link('/nowhere')).toEqual({});
});
