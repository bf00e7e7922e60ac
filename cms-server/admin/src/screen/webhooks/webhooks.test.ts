// States of deliveries as people read them.
import { expect, test } from 'vitest';
import { headerLines, isPaused, stateOf, subjectOf, type Webhook } from './webhooks';

test('state of a delivery says what happens to it next', () => {
  expect(stateOf({ status: 'pending', attempts: 0 }, false)).toBe('pending');
  expect(stateOf({ status: 'pending', attempts: 1 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, false)).toBe('retrying');
  expect(stateOf({ status: 'error', attempts: 3 }, true)).toBe('paused');
  expect(stateOf({ status: 'failed', attempts: 9 }, true)).toBe('failed');
  expect(stateOf({ status: 'done', attempts: 1 }, true)).toBe('done');
});

test('headers have one line each, and left-out headers have one together', () => {
  const fields = [
    { name: 'server', value: 'receiver' },
    { name: 'x-empty', value: '' },
  ];
  expect(headerLines({ fields, truncated: false })).toBe('server: receiver\nx-empty: ');
  expect(headerLines({ fields, truncated: true })).toBe('server: receiver\nx-empty: \n…');
});

test('a webhook is paused as long as the server says so', () => {
  const webhook: Webhook = {
    id: 'site',
    name: 'Site',
    type: 'async',
    url: 'http://127.0.0.1:9/',
    enabled: true,
    pending: 2,
    failing: true,
    pausedUntil: '2026-11-23T06:00:00+0000',
    secret: '',
  };
  expect(isPaused(webhook)).toBe(true);
  expect(isPaused({ ...webhook, pausedUntil: null })).toBe(false);
  expect(isPaused({ ...webhook, enabled: false })).toBe(false);
  expect(isPaused(undefined)).toBe(false);
});

test('finds the object that a delivery is about', () => {
  expect(subjectOf('/api/v1/content/post/the%20boat/version/3')).toEqual({
    type: 'post',
    id: 'the boat',
    version: '3',
  });
  expect(subjectOf('/api/v1/content/post/boat')).toEqual({ type: 'post', id: 'boat', version: null });
  expect(subjectOf('/api/v1/internal/contenttype/post')).toBeNull();
  expect(subjectOf('')).toBeNull();
});
