// Numbers as people type them.
import { locale } from '../../text';

/**
 * Reads a number; null if the text is none, or is a fraction for an integer. A comma is the decimal sign only in
 * languages that have it: in others, `1,000` would become 1.
 */
export function parseNumber(text: string, type: string, language = locale): number | null {
  const comma = new Intl.NumberFormat(language).format(0.5).includes(',');
  const plain = comma ? text.trim().replace(',', '.') : text.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  if (!Number.isFinite(value)) return null;
  if (/^[+-]?\d+$/.test(plain) && !Number.isSafeInteger(value)) return null;
  // More digits than a number holds would be rounded.
  if (digitsOf(plain) !== digitsOf(String(value))) return null;
  return type === 'integer' && !Number.isInteger(value) ? null : value;
}

/** The digits of a number without its exponent, and without zeros at either end. */
function digitsOf(text: string): string {
  return text
    .replace(/e.*$/i, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');
}
