// Numbers as people type them.
import { locale } from '../../text';
import { isRounded } from '../../value/exact-json';

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
  if (isRounded(plain)) return null;
  return type === 'integer' && !Number.isInteger(value) ? null : value;
}
