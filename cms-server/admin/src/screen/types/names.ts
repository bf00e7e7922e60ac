// Names that have to be right before a plan makes sense. Knows the types of the session.
import { session } from '../../session/session.svelte';
import { string } from '../../type/definition';
import type { PropertyDraft } from '../../type/property-draft';
import { nameError, type TypeDraft } from '../../type/type-draft';
import { isNewKey, type WorkKey } from './drafts.svelte';

/** Why a new type cannot have this name; null when it can, or when it is empty. */
export function typeNameError(name: string): 'letters' | 'taken' | null {
  if (!/^[a-z_]*$/.test(name)) return 'letters';
  return session.types.some((type) => type.name === name) ? 'taken' : null;
}

function levelIsRight(level: PropertyDraft[], isTop: boolean): boolean {
  return level.every(
    ({ removed, key, name, items }) =>
      removed || (nameError(name, key, level, isTop) === null && levelIsRight(items ?? [], false)),
  );
}

export function namesAreRight(key: WorkKey, { definition, properties }: TypeDraft): boolean {
  const name = string(definition.name) ?? '';
  if (isNewKey(key) && (name === '' || typeNameError(name) !== null)) return false;
  return string(definition.label) !== '' && levelIsRight(properties, true);
}
