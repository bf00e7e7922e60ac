// Items of an object list. Properties that the type does not declare are kept.
import { errorsBelow, type FieldErrors } from '../../api/problem';
import { defaultsOf } from '../../object/form-values';
import { isShown, type Field, type Kind } from '../../type/form';
import { isRecord, withMember } from '../../value/record';

const TABLE_KINDS: ReadonlySet<Kind> = new Set([
  'text',
  'email',
  'number',
  'checkbox',
  'select',
  'dateTime',
  'radio',
]);
const MAX_COLUMNS = 5;
/** A title is made of the beginning of a text. */
const MAX_TITLE_SOURCE_CHARS = 2000;

/** Items with few short properties are rows of a table; others are cards. */
export function isTable(fields: Field[]): boolean {
  const shown = fields.filter((field) => !field.hidden);
  return (
    shown.length <= MAX_COLUMNS && shown.every((field) => TABLE_KINDS.has(field.kind) && !field.multiple)
  );
}

/** A new item with the defaults of its properties. */
export function newItem(fields: Field[]): Record<string, unknown> {
  return structuredClone(defaultsOf(fields));
}

/** The item with one property changed; `undefined` removes it. The order of the others stays. */
export function withProperty(item: unknown, name: string, value: unknown): Record<string, unknown> {
  return withMember(isRecord(item) ? item : {}, name, value);
}

/** A short text that tells an item from the others: its title, else its first text. */
export function titleOf(item: unknown, fields: Field[]): string {
  if (!isRecord(item)) return '';
  const ordered = [...fields.filter((field) => field.title), ...fields];
  for (const field of ordered) {
    if (field.password) continue;
    const value = item[field.name];
    const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
    if (text === '') continue;
    const label = field.options.find((option) => option.value === text)?.label ?? text;
    return label
      .slice(0, MAX_TITLE_SOURCE_CHARS)
      .replace(/<[^>]*>/g, ' ')
      .slice(0, 120);
  }
  return '';
}

/** Fields whose condition an item meets. A condition does not hide an error. */
export function shownFields(fields: Field[], item: unknown, errors: FieldErrors, path: string): Field[] {
  const values = isRecord(item) ? item : {};
  return fields.filter(
    (field) =>
      isShown(field, values) || (!field.hidden && errorsBelow(errors, `${path}.${field.name}`).length > 0),
  );
}

/** Indexes of the items that have validation errors. */
export function itemsWithErrors(errors: FieldErrors, path: string): number[] {
  const found = Object.keys(errors).flatMap((at) => {
    if (!at.startsWith(`${path}[`)) return [];
    const index = Number.parseInt(at.slice(path.length + 1), 10);
    return Number.isNaN(index) ? [] : [index];
  });
  return [...new Set(found)].sort((a, b) => a - b);
}
