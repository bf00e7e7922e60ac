// Values of a form: the defaults of a new object, the title, the validation errors of properties. Pure functions.
import { topLevelName, type FieldErrors } from '../api/problem';
import { storesEmptyList, type Field, type Form } from '../type/form';
import type { Values } from './form-state.svelte';

/** Values of a new object, or of a new item of a list. */
export function defaultsOf(fields: Field[]): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = field.default ?? (storesEmptyList(field) ? [] : undefined);
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

const MAX_TITLE_CHARS = 200;

/** Kinds of properties whose values the server puts into titles. */
const TITLE_KINDS = new Set(['text', 'textarea', 'email', 'number', 'select', 'dateTime']);

/** The title of an object, as the server makes it; empty when no part of it is set. A long one is cut off. */
export function titleOf(form: Form, values: Values): string {
  const fields = form.fields.filter((field) => field.title && TITLE_KINDS.has(field.kind));
  const parts = fields.map((field) => titlePart(values[field.name]));
  const title = parts.filter((part) => part !== '').join(' ');
  return title.length > MAX_TITLE_CHARS ? `${title.slice(0, MAX_TITLE_CHARS)}…` : title;
}

function titlePart(value: unknown): string {
  if (Array.isArray(value)) return value.map(titlePart).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Validation errors of some properties. */
export function errorsOf(names: string[], errors: FieldErrors): FieldErrors {
  return Object.fromEntries(Object.entries(errors).filter(([path]) => names.includes(topLevelName(path))));
}
