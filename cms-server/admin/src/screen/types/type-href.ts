// The address of the builder of a type. Imports no component.
import { href, NEW_SEGMENT } from '../../router.svelte';
import { isNewKey, type EditedTypeKey } from './edited-types.svelte';

export function typeHref({ name }: { name: string }): string {
  return href(`types/${encodeURIComponent(name)}`);
}

/** The builder of a type that is edited; `at` opens a property or a setting there. */
export const editedTypeHref = (
  key: EditedTypeKey,
  query: { view?: string; at?: string | undefined } = {},
): string =>
  isNewKey(key)
    ? href(`types/${NEW_SEGMENT}`, { draft: key.slice(1), ...query })
    : href(`types/${encodeURIComponent(key)}`, query);
