import { expect, it } from 'vitest';
import { ListWindow } from './list-window.svelte';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('renders the beginning, then more with each step', () => {
  const listWindow = new ListWindow(
    () => numbers(250),
    () => 100,
  );
  expect(listWindow.items).toEqual(numbers(100));
  listWindow.showMore();
  listWindow.showMore();
  expect([listWindow.start, listWindow.end]).toEqual([0, 250]);
});

it('goes to an item far away, and back in steps', () => {
  const listWindow = new ListWindow(
    () => numbers(10_000),
    () => 100,
  );
  listWindow.show(9999);
  expect(listWindow.items).toContain(9999);
  expect(listWindow.items).toHaveLength(51);
  listWindow.showEarlier();
  expect(listWindow.items).toHaveLength(151);
  listWindow.show(0);
  expect([listWindow.start, listWindow.end]).toEqual([0, 100]);
});

it('follows a list that became shorter', () => {
  let list = numbers(1000);
  const listWindow = new ListWindow(
    () => list,
    () => 100,
  );
  listWindow.show(990);
  list = numbers(10);
  expect(listWindow.items).toEqual(list);
});
