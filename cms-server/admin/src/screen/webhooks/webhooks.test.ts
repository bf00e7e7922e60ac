// States of deliveries as people read them.
import { expect, test } from 'vitest';
import { stateOf } from './webhooks';

test('names a delivery by what happens to it next', () => {
  expect(stateOf({ status: 'pending', attempts: 0 }, false)).toBe('waiting');
  expect(stateOf({ status: 'pending', attempts: 1 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, true)).toBe('paused');
  expect(stateOf({ status: 'failed', attempts: 9 }, true)).toBe('failed');
  expect(stateOf({ status: 'done', attempts: 1 }, true)).toBe('done');
});
