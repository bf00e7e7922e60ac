// Keys of list items that have no identity of their own: they follow the items when these are moved, so that
// an input keeps the focus.
import { inserted } from './list';

/** Keys for `length` items; those that are known stay. */
export function fitKeys(keys: readonly number[], length: number): number[] {
  const fitted = keys.slice(0, length);
  let next = nextKey(fitted);
  while (fitted.length < length) {
    fitted.push(next);
    next += 1;
  }
  return fitted;
}

function nextKey(keys: readonly number[]): number {
  return keys.reduce((max, key) => Math.max(max, key), 0) + 1;
}

/** Keys after `count` new items were inserted at `index`. The new items get no key of `reserved`. */
export function insertedKeys(
  keys: readonly number[],
  index: number,
  count: number,
  reserved: readonly number[] = [],
): number[] {
  const next = nextKey([...keys, ...reserved]);
  return inserted(keys, index, ...Array.from({ length: count }, (_none, at) => next + at));
}
