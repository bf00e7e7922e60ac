// The range of items of a long list that is rendered. Plain values.

export interface ItemRange {
  start: number;
  /** Not included. */
  end: number;
}

/**
 * The range in a list of `length` items: at least `size` items from its start, as far as the list goes. A range that
 * starts after the end of the list becomes the last `size` items.
 */
export function fitRange({ start, end }: ItemRange, length: number, size: number): ItemRange {
  const from = start < length ? start : Math.max(0, length - size);
  return { start: from, end: Math.min(Math.max(end, from + size), length) };
}

/** A range with the item at `index`: the same when it is inside, wider when it is near, else around the item. */
export function rangeWith(range: ItemRange, index: number, size: number): ItemRange {
  const { start, end } = range;
  if (index >= start && index < end) return range;
  if (index >= start - size && index < end + size)
    return { start: Math.min(start, index), end: Math.max(end, index + 1) };
  const from = Math.max(0, index - Math.floor(size / 2));
  return { start: from, end: Math.max(from + size, index + 1) };
}
