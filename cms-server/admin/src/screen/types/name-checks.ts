// Names that have to be right before a plan makes sense. Knows the types of the session.
import { session } from '../../session/session.svelte';
import { string } from '../../type/definition';
import type { PropertyDraft } from '../../type/property-draft';
import { nameError, type TypeDraft } from '../../type/type-draft';
import { isNewKey, type EditedTypeKey } from './edited-types.svelte';

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

function levelIsRight(level: PropertyDraft[], isTop: boolean): boolean {
  return level.every(
    ({ removed, key, name, items }) =>
      removed || (nameError(name, key, level, isTop) === null && levelIsRight(items ?? [], false)),
  );
}

export function namesAreRight(key: EditedTypeKey, { definition, properties }: TypeDraft): boolean {
  const name = string(definition.name) ?? '';
  if (isNewKey(key) && (name === '' || typeNameError(name) !== null)) return false;
  return string(definition.label) !== '' && levelIsRight(properties, true);
}
