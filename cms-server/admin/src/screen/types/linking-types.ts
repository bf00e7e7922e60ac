// Which types link to a type. Knows the types of the session.
import { formFor, session } from '../../session/session.svelte';
import type { ContentType } from '../../type/definition';
import type { Field } from '../../type/form';

function links(fields: Field[], name: string): boolean {
  return fields.some((field) => field.targets.includes(name) || links(field.fields, name));
}

export function typesLinkingTo(name: string): ContentType[] {
  return session.types.filter((type) => links(formFor(type).fields, name));
}
