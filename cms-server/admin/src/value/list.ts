// Lists that are not changed in place.

/** The list with the item at `from` (0 or more) moved to `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const others = without(list, from);
  return inserted(others, Math.max(0, Math.min(to, others.length)), ...list.slice(from, from + 1));
}

export function without<T>(list: readonly T[], index: number): T[] {
  return list.filter((_item, at) => at !== index);
}

export function inserted<T>(list: readonly T[], index: number, ...items: T[]): T[] {
  return [...list.slice(0, index), ...items, ...list.slice(index)];
}

export function replaced<T>(list: readonly T[], index: number, item: T): T[] {
  return list.map((old, at) => (at === index ? item : old));
}

/** Removes the value, or adds it behind the others. */
export function toggled(values: readonly string[], one: string): string[] {
  return values.includes(one) ? values.filter((value) => value !== one) : [...values, one];
}

/** Consecutive parts of a list with at most `size` items each. */
export function partsOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}
