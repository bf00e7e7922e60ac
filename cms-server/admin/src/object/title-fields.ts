// Where people look for an object that they know: in titles, and in the other short texts of given types. Over
// all types only in titles: each further property costs time. Knows no request.
import { formFor, session, typeNamed } from '../session/session.svelte';
import type { Field, Form } from '../type/form';

const MAX_FIELDS = 100;
const SHORT_TEXT_KINDS = new Set(['text', 'email', 'select', 'radio', 'textarea', 'simpleList']);

/** The short texts of a form; nobody finds an object by a password. */
export function searchedFields(form: Form): Field[] {
  return form.fields.filter((field) => SHORT_TEXT_KINDS.has(field.kind) && !field.password);
}

/** Properties to find an object by; those of its title count more. No names mean all types. */
export function titleFields(names: string[]): string[] {
  const types = names.length > 0 ? names.flatMap((name) => typeNamed(name) ?? []) : session.types;
  const fields = types.flatMap((type) => searchedFields(formFor(type)));
  const titles = new Set(fields.filter((field) => field.title).map((field) => field.name));
  const others = names.length === 0 ? [] : fields.map(({ name }) => name).filter((name) => !titles.has(name));
  return [...new Set(['id^2', ...[...titles].map((name) => `${name}^5`), ...others])].slice(0, MAX_FIELDS);
}
