// Requests of the console are built from the document and the values.
import { expect, test } from 'vitest';
import api from '../../../api.json';
import { findOperations, readOperations } from './operations';
import { asCommand, asCurl, missingOf, requestOf } from './request';

const operations = readOperations(api);
const named = (id: string) => {
  const found = operations.find((one) => one.id === id);
  if (!found) throw new Error(id);
  return found;
};

test('knows every operation of the server by a name of its own', () => {
  expect(operations.length).toBeGreaterThan(100);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  expect(findOperations(operations, 'rotate key').map(({ id }) => id)).toContain('rotateKey');
});

test('fills an example into the body', () => {
  expect(named('postKey').body).toMatchObject({ name: '', kind: 'read_only' });
  expect(named('getKeys').body).toBeNull();
});

test('puts values where they belong, and quotes them', () => {
  const list = named('content_list');
  expect(missingOf(list, {})).toEqual(['contentType']);
  const values = { 'path.contentType': 'post', 'query.ids[]': 'a\nb c', 'query.limit': '5' };
  const request = requestOf(list, values, '');
  expect(request.path).toBe('/api/v1/content/post?limit=5&ids%5B%5D=a&ids%5B%5D=b+c');
  expect(asCurl({ ...request, body: "it's" }, 'https://x')).toContain(`--data-raw 'it'\\''s'`);
  expect(asCommand(list, { 'path.contentType': 'post' }, 'https://x')).toBe(
    'cms object list post --server https://x',
  );
  expect(asCommand(list, values, 'https://x')).toBeNull();
});
