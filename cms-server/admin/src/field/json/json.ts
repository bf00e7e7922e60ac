// JSON as people type it.

/** The value of a text: undefined when it is empty, the text itself while it is not JSON. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value as text. A text that is not JSON was typed by the user, and is shown as it is. */
export function showJson(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && parseJson(value) === value) return value;
  return JSON.stringify(value, null, 2);
}
