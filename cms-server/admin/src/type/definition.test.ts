import { expect, test } from 'vitest';
import { readContentType } from './definition';

test.each([
  ['review', true],
  ['generic', false],
  ['', false],
  [null, false],
])('workflow %j restricts readers: %s', (workflowId, restricts) => {
  expect(readContentType({ name: 'post', workflowId }).restrictsReaders).toBe(restricts);
});
