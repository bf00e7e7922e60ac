// JSON as people type it.
import { hasRoundedNumber } from '../../value/exact-json';
import { parsedJson } from '../../value/json';

/** The value of a text: undefined when it is empty, the text itself while it is not JSON. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  const value = parsedJson(text);
  return value === undefined ? text : value;
}

/** The value of a typed text, or the text itself while it is not JSON or has a number that would be rounded. */
export function typedJson(text: string): unknown {
  return hasRoundedNumber(text) ? text : parseJson(text);
}

/** A value as text. An object or list that `typedJson` returned as text is shown as it was typed. */
export function showJson(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && /^\s*[{[]/.test(value) && typedJson(value) === value) return value;
  return JSON.stringify(value, null, 2);
}
