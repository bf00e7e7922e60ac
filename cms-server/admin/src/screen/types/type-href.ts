// The address of the builder of a type. Knows no component.
import { href } from '../../router.svelte';

export function typeHref({ name }: { name: string }): string {
  return href(`types/${encodeURIComponent(name)}`);
}
