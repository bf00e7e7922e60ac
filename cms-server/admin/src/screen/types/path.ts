// The address of the builder of a type. Knows no component.
import { href } from '../../router.svelte';

/** Screens of their own below `types`: types with these names are opened by their ids. */
const SCREENS = ['new', 'plan'];

export function typeHref({ name, id }: { name: string; id: string }): string {
  return href(`types/${encodeURIComponent(SCREENS.includes(name) ? id : name)}`);
}
