import { expect, test } from 'vitest';
import { nextCell } from './grid-keys';

const size = { rows: 3, columns: 4 };
const press = (key: string, ctrlKey = false) =>
  nextCell({ key, ctrlKey, metaKey: false, altKey: false }, { row: 1, column: 1 }, size);

test('moves by one cell, and stays inside the grid', () => {
  expect(press('ArrowDown')).toEqual({ row: 2, column: 1 });
  expect(press('ArrowUp')).toEqual({ row: 0, column: 1 });
  expect(press('ArrowRight')).toEqual({ row: 1, column: 2 });
  expect(press('ArrowLeft')).toEqual({ row: 1, column: 0 });
  expect(press('PageDown')).toEqual({ row: 2, column: 1 });
  expect(press('PageUp')).toEqual({ row: 0, column: 1 });
});

test('goes to the ends of a row, and with Ctrl to those of the grid', () => {
  expect(press('Home')).toEqual({ row: 1, column: 0 });
  expect(press('End')).toEqual({ row: 1, column: 3 });
  expect(press('Home', true)).toEqual({ row: 0, column: 0 });
  expect(press('End', true)).toEqual({ row: 2, column: 3 });
});

test('leaves other keys alone', () => {
  expect(press(' ')).toBeNull();
  expect(press('ArrowDown', true)).toBeNull();
  expect(press('a')).toBeNull();
});
