// Numbers as people type them.
import { locale } from '../../text';
import { isRounded } from '../../value/exact-json';
import { GROUPED_NUMBER } from '../../value/grouped-number';
import { asText } from '../control';

const hasDecimalComma = (language: string) => new Intl.NumberFormat(language).format(0.5).includes(',');

/** A number as it is shown for editing: all digits, and the decimal sign that `parseNumber` reads. Or what is no number. */
export function numberText(value: unknown, language = locale): string {
  const text = asText(value);
  return typeof value === 'number' && hasDecimalComma(language) ? text.replace('.', ',') : text;
}

/**
 * Reads a number; null if the text is none, or is a fraction for an integer. A comma is the decimal sign only in
 * languages that have it: in others, `1,000` would become 1. These also read a point, as in `1.5`, but not in
 * `1.000`, which means a thousand there.
 */
export function parseNumber(text: string, type: string, language = locale): number | null {
  const typed = text.trim();
  const comma = hasDecimalComma(language);
  if (comma && typed.includes('.') && GROUPED_NUMBER.test(typed)) return null;
  const plain = comma ? typed.replace(',', '.') : typed;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  if (!Number.isFinite(value)) return null;
  if (/^[+-]?\d+$/.test(plain) && !Number.isSafeInteger(value)) return null;
  if (isRounded(plain)) return null;
  return type === 'integer' && !Number.isInteger(value) ? null : value;
}
