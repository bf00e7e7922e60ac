// Loads that are stopped or replaced.
import { expect, test } from 'vitest';
import { StoppableLoad } from './stoppable-load.svelte';

test('a load is busy until its result is there', async () => {
  const load = new StoppableLoad();
  const result = load.run(() => Promise.resolve(1));
  expect(load.busy).toBe(true);
  expect(await result).toBe(1);
  expect(load.busy).toBe(false);
  expect(load.stopped).toBe(false);
});

test('a stopped load has no result, and the next one has', async () => {
  const load = new StoppableLoad();
  const result = load.run(() => Promise.resolve(1));
  load.stop();
  expect(load).toMatchObject({ busy: false, stopped: true });
  expect(await result).toBeUndefined();
  expect(await load.run(() => Promise.resolve(2))).toBe(2);
  expect(load.stopped).toBe(false);
});

test('the newest load has the result, even if an earlier one ends later', async () => {
  const load = new StoppableLoad();
  let finish = (_: number) => {};
  const slow = load.run(() => new Promise<number>((resolve) => (finish = resolve)));
  const fast = load.run(() => Promise.resolve(2));
  expect(await fast).toBe(2);
  finish(1);
  expect(await slow).toBeUndefined();
  expect(load.busy).toBe(false);
});

test('a stopped or replaced load is aborted', async () => {
  const load = new StoppableLoad();
  const wait = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    });
  const replaced = load.run(wait);
  const stopped = load.run(wait);
  expect(await replaced).toBeUndefined();
  expect(load.busy).toBe(true);
  load.stop();
  expect(await stopped).toBeUndefined();
  expect(load).toMatchObject({ busy: false, stopped: true });
});
