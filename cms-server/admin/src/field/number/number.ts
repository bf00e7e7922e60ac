// Numbers as people type them.
import { locale } from '../../text';

/**
 * Reads a number; a fraction only where the type allows it. A comma is the decimal sign where the language has
 * it: elsewhere `1,000` would become 1.
 */
export function parseNumber(text: string, type: string, language = locale): number | null {
  const comma = new Intl.NumberFormat(language).format(0.5).includes(',');
  const plain = comma ? text.trim().replace(',', '.') : text.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  if (!Number.isFinite(value)) return null;
  // Longer ones would be rounded.
  if (/^[+-]?\d+$/.test(plain) && !Number.isSafeInteger(value)) return null;
  return type === 'integer' && !Number.isInteger(value) ? null : value;
}
