// Values of a list whose items hold one option each.
import { strings } from '../../type/definition';
import { isRecord } from '../../value/record';

/** The value of an item; null when it has none. */
function valueOf(item: unknown, name: string): string | null {
  const value = isRecord(item) ? item[name] : undefined;
  return typeof value === 'string' ? value : null;
}

/** The values of the items that have one. */
export function chosenValues(items: unknown[], name: string): string[] {
  return items.map((item) => valueOf(item, name)).filter((value) => value !== null);
}

/** The items of the chosen values, in the order of the values: known items stay as they are. */
export function chosenItems(items: unknown[], name: string, values: unknown): unknown[] {
  const left = [...items];
  const chosen = strings(values).map((value) => {
    const at = left.findIndex((item) => valueOf(item, name) === value);
    return at < 0 ? { [name]: value } : left.splice(at, 1)[0];
  });
  // Items without a value are no choices, so they stay.
  return [...chosen, ...left.filter((item) => valueOf(item, name) === null)];
}
