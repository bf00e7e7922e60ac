// Requests of the console are built from the document and the values.
import { expect, test } from 'vitest';
import api from '../../../api.json';
import { asCommand, asGraphQlCommand } from './command';
import { findOperations, readOperations } from './operations';
import { asCurl, filtersOf, missingOf, operationOf, requestOf } from './request';

const operations = readOperations(api);
const named = (id: string) => {
  const found = operations.find((one) => one.id === id);
  if (!found) throw new Error(id);
  return found;
};

test('operations of the server have unique ids', () => {
  expect(operations.length).toBeGreaterThan(100);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  expect(findOperations(operations, 'rotate key').map(({ id }) => id)).toContain('rotateKey');
});

test('body of an operation starts with an example', () => {
  expect(named('postKey').body).toMatchObject({ name: '', kind: 'read_only' });
  expect(named('getKeys').body).toBeNull();
});

test('values are put into the request, and quoted in commands', () => {
  const list = named('content_list');
  expect(missingOf(list, {})).toEqual(['contentType']);
  const values = { 'path.contentType': 'post', 'query.ids[]': 'a\nb c', 'query.limit': '5' };
  const request = requestOf(list, values, '');
  expect(request.path).toBe('/api/v1/content/post?limit=5&ids%5B%5D=a&ids%5B%5D=b+c');
  expect(asCurl({ ...request, body: "it's" }, 'https://x')).toContain(`--data-raw 'it'\\''s'`);
  expect(asCommand(list, { 'path.contentType': 'post' }, 'https://x')).toBe(
    'cms object list post --server https://x',
  );
  expect(asCommand(list, values, 'https://x')).toBe(
    "cms object list post --limit 5 --id a --id 'b c' --server https://x",
  );
  expect(asCommand(list, { ...values, 'header.If-None-Match': '"a"' }, 'https://x')).toBeNull();
});

test('operation of a sent request is found', () => {
  const found = (method: string, path: string) => operationOf(operations, method, path);
  const list = found(
    'GET',
    '/api/v1/content/post?limit=5&fields%5B%5D=id&fields%5B%5D=slug&order_direction=desc',
  );
  expect(list?.operation.id).toBe('content_list');
  expect(list?.complete).toBe(true);
  expect(list && asCommand(list.operation, list.values, 'https://x')).toBe(
    'cms object list post --limit 5 --desc --field id --field slug --server https://x',
  );
  expect(found('PUT', '/api/v1/content/post/slow%20boat')?.values['path.id']).toBe('slow boat');
  expect(found('GET', '/api/v1/internal/contenttype')?.operation.id).toBe('getContentDefinitions');
  expect(found('GET', '/api/v1/search?q=tea&filters%5Bprice%5D=1')?.complete).toBe(false);
  expect(found('GET', '/nothing')).toBeNull();
});

test('commands contain the body, and the variables of a query', () => {
  const values = { 'path.contentType': 'post', 'path.id': 'boat' };
  const body = '{"title":"Ann\'s"}';
  expect(asCommand(named('content_patch'), values, 'https://x', { body })).toBe(
    `printf %s '{"title":"Ann'\\''s"}' | cms object update --patch post boat - --server https://x`,
  );
  expect(asCommand(named('content_patch'), values, 'https://x')).toBeNull();
  expect(asGraphQlCommand('{ a }', '{"id":"b"}', 'https://x', true)).toBe(
    `printf %s '{ a }' | cms graphql query - --v2 --variables '{"id":"b"}' --preview --server https://x`,
  );
  expect(asGraphQlCommand('{ a }', '{}', 'https://x', false)).toBe(
    "printf %s '{ a }' | cms graphql query - --v2 --server https://x",
  );
});

test('conditions of a list become filters of the API', () => {
  const title = { type: 'contains', filter: 'boat' };
  const recent = { 'internal.updatedAt': { type: 'lastDays', filter: 7 }, title };
  expect(JSON.parse(filtersOf(JSON.stringify(recent)))).toEqual({
    'internal.updatedAt': {
      type: 'greaterThanOrEqual',
      filter: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    },
    title,
  });
});
