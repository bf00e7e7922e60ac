// What the form of a type says about values: those of a new object, and the title.
import { formFor } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import type { Values } from './draft.svelte';

/** Values of a new object. */
export function defaultsOf(type: ContentType): Values {
  const fields = formFor(type).fields.filter((field) => field.default !== undefined);
  return Object.fromEntries(fields.map((field) => [field.name, field.default]));
}

/** The title of an object with these values; empty when no part of it is set. */
export function titleIn(type: ContentType, values: Values): string {
  const parts = formFor(type).fields.filter((field) => field.title);
  const texts = parts.map((field) => values[field.name]);
  return texts.filter((part) => typeof part === 'string').join(' ');
}
