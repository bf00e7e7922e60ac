import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { syncClock, serverNow } from './clock';

const NOON = Date.UTC(2026, 10, 23, 12);

beforeEach(() => void vi.useFakeTimers({ now: NOON }));
afterEach(() => {
  syncClock(new Date().toUTCString());
  vi.useRealTimers();
});

it('is the time of the server when the clock of the browser is years off', () => {
  syncClock('Tue, 23 Nov 2021 12:00:00 GMT');
  expect(new Date(serverNow()).toISOString()).toBe('2021-11-23T12:00:00.000Z');
  vi.advanceTimersByTime(90_000);
  expect(new Date(serverNow()).toISOString()).toBe('2021-11-23T12:01:30.000Z');
});

it('is the clock of the browser while both agree within half a minute', () => {
  syncClock(new Date(NOON - 20_000).toUTCString());
  expect(serverNow()).toBe(NOON);
});

it('follows when the clock of the browser is corrected', () => {
  syncClock(new Date(NOON + 3_600_000).toUTCString());
  vi.setSystemTime(NOON + 3_600_000);
  syncClock(new Date(NOON + 3_600_000).toUTCString());
  expect(serverNow()).toBe(NOON + 3_600_000);
});

it('keeps what it knows without a header, or with one that is no time', () => {
  syncClock('Tue, 23 Nov 2021 12:00:00 GMT');
  syncClock(null);
  syncClock('yesterday');
  expect(new Date(serverNow()).getUTCFullYear()).toBe(2021);
});
