import { expect, it } from 'vitest';
import { ListWindow } from './list-window.svelte';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('renders the beginning, then more with each step', () => {
  const part = new ListWindow(
    () => numbers(250),
    () => 100,
  );
  expect(part.items).toEqual(numbers(100));
  part.showMore();
  part.showMore();
  expect([part.start, part.end]).toEqual([0, 250]);
});

it('goes to an item far away, and back in steps', () => {
  const part = new ListWindow(
    () => numbers(10_000),
    () => 100,
  );
  part.show(9999);
  expect(part.items).toContain(9999);
  expect(part.items).toHaveLength(51);
  part.showEarlier();
  expect(part.items).toHaveLength(151);
  part.show(0);
  expect([part.start, part.end]).toEqual([0, 100]);
});

it('follows a list that became shorter', () => {
  let list = numbers(1000);
  const part = new ListWindow(
    () => list,
    () => 100,
  );
  part.show(990);
  list = numbers(10);
  expect(part.items).toEqual(list);
});
