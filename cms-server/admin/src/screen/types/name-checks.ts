// Names of types and properties: from labels, and whether a type can have them. Knows the types of the session.
import { session } from '../../session/session.svelte';

/** Why a new type cannot have this name; null when it can, or when it is empty. */
export function typeNameError(name: string): 'letters' | 'taken' | null {
  if (!/^[a-z_]*$/.test(name)) return 'letters';
  return session.types.some((type) => type.name === name) ? 'taken' : null;
}

/** A name for a type with this label: `Blog post` is `blog_post`. */
export function typeNameFrom(label: string): string {
  return words(label)
    .map((word) => word.replace(/[^a-z]/g, ''))
    .filter(Boolean)
    .join('_');
}

/** A name for a property with this label: `Date of birth` is `dateOfBirth`. */
export function propertyNameFrom(label: string): string {
  return words(label)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
    .replace(/^\d+/, '');
}

function words(label: string): string[] {
  const plain = label
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
  return plain.split(/[^a-z0-9]+/).filter(Boolean);
}
