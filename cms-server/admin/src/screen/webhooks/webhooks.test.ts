// States of deliveries as people read them.
import { expect, test } from 'vitest';
import { isPaused, stateOf, type Delivery } from './webhooks';

test('names a delivery by what happens to it next', () => {
  expect(stateOf({ status: 'pending', attempts: 0 }, false)).toBe('waiting');
  expect(stateOf({ status: 'pending', attempts: 1 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, true)).toBe('paused');
  expect(stateOf({ status: 'failed', attempts: 9 }, true)).toBe('failed');
  expect(stateOf({ status: 'done', attempts: 1 }, true)).toBe('done');
});

test('a webhook is paused when requests about two objects had no response', () => {
  const delivery = (ref: string, more: Partial<Delivery> = {}): Delivery => ({
    id: 1,
    message: 'msg',
    action: 'Update',
    contentTypeName: 'post',
    ref,
    status: 'pending',
    attempts: 1,
    createdAt: '',
    attemptedAt: null,
    nextAttemptAt: null,
    request: null,
    response: null,
    error: null,
    ...more,
  });
  const first = delivery('/api/v1/content/post/a/version/1');
  expect(isPaused([first, delivery('/api/v1/content/post/a/version/2')])).toBe(false);
  expect(isPaused([first, delivery('/api/v1/content/post/b/version/1')])).toBe(true);
  expect(isPaused([first, delivery('/b', { response: { status: 404, body: '' } })])).toBe(false);
  expect(isPaused([first, delivery('/b', { status: 'failed' })])).toBe(false);
});
