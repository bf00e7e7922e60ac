// The properties in which people search for an object that they know: titles, and in given types also the other short
// texts. In all types only titles: each further property costs time. Sends no requests.
import { formFor, session, typeNamed } from '../session/session.svelte';
import type { Field, Form } from '../type/form';

/** The limit of the API. */
export const MAX_FIELDS = 100;
const SHORT_TEXT_KINDS = new Set(['text', 'email', 'select', 'radio', 'textarea', 'simpleList']);

/** The short texts of a form, without passwords. */
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
