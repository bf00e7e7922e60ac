// Validation errors that the page itself finds: texts where numbers belong, points without one of their numbers.
// Pure functions; the server checks everything else.
import { t } from '../text';
import { GROUPED_NUMBER } from '../value/grouped-number';
import { isRecord } from '../value/record';
import type { Field } from './form';

/** A number with at most this many digits is stored exactly. */
const MAX_DIGITS = 15;

/** Messages by path, in the format of the server. */
export function valueErrors(fields: Field[], values: Record<string, unknown>): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const field of fields) collect(field, values[field.name], field.name, found);
  return found;
}

function collect(field: Field, value: unknown, path: string, found: Record<string, string[]>): void {
  if (field.kind === 'number' && typeof value === 'string') found[path] = [numberError(value, field.type)];
  else if (field.kind === 'geo' && isRecord(value)) {
    for (const name of ['lat', 'lon']) {
      const part = value[name];
      if (typeof part === 'string')
        found[`${path}.${name}`] = [
          part.trim() === '' ? t.control.incompletePoint : numberError(part, 'number'),
        ];
    }
  } else if (field.kind === 'object' && Array.isArray(value)) {
    value.forEach((item, index) => nested(field, item, `${path}[${String(index)}]`, found));
  } else if (field.kind === 'custom') nested(field, value, path, found);
}

function nested(field: Field, value: unknown, path: string, found: Record<string, string[]>): void {
  if (!isRecord(value)) return;
  for (const inner of field.fields) collect(inner, value[inner.name], `${path}.${inner.name}`, found);
}

/** Why a typed text is not stored as a number. */
function numberError(text: string, type: string): string {
  const plain = text.trim();
  if (GROUPED_NUMBER.test(plain)) return t.field.decimalSign;
  if (/^[+-]?\d+$/.test(plain)) return t.field.tooManyDigits;
  if (!/^[+-]?(\d+[.,]?\d*|[.,]\d+)$/.test(plain)) return t.field.noNumber;
  if (type === 'integer') return t.field.wholeNumber;
  return plain.replace(/\D/g, '').length > MAX_DIGITS ? t.field.tooManyDigits : t.field.decimalSign;
}
