// Where a path of a validation error is in a JSON text.
import { isRecord } from './record';

/** `transitions[0].froms` as steps. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}

const MARKER = '\u0000here\u0000';

/** Line of the value at a path, counted as `JSON.stringify(value, null, 2)` writes it; null when it is not there. */
export function lineOf(value: unknown, path: string): number | null {
  const steps = stepsOf(path);
  const at = marked(value, steps);
  if (at === undefined) return null;
  const lines = JSON.stringify(at, null, 2).split('\n');
  const found = lines.findIndex((line) => line.includes(JSON.stringify(MARKER).slice(1, -1)));
  return found < 0 ? null : found + 1;
}

/** A copy with a mark in place of the value at the steps. */
function marked(value: unknown, [step, ...rest]: (string | number)[]): unknown {
  if (step === undefined) return MARKER;
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    if (typeof step !== 'number' || step >= items.length) return undefined;
    const inner = marked(items[step], rest);
    return inner === undefined ? undefined : items.map((item, index) => (index === step ? inner : item));
  }
  if (!isRecord(value) || !(step in value)) return undefined;
  const inner = marked(value[step], rest);
  return inner === undefined ? undefined : { ...value, [step]: inner };
}
