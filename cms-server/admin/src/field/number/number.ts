// Numbers as people type them.

/** Reads a number; a decimal comma is accepted, a fraction only where the type allows it. */
export function parseNumber(text: string, type: string): number | null {
  const plain = text.trim().replace(',', '.');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  if (!Number.isFinite(value)) return null;
  return type === 'integer' && !Number.isInteger(value) ? null : value;
}
