// Screens with pages: the last one is opened if the address names a later one, because the link is old, or because
// entries were removed since. The list of a type has its own rule.
import { setQuery } from '../router.svelte';

interface Query {
  isPlaceholderData: boolean;
}

/** To be called by the script of a screen. `pages` is undefined before the list is read. */
export function openLastPage(query: Query, page: () => number, pages: () => number | undefined): void {
  $effect(() => {
    const last = pages();
    if (query.isPlaceholderData || last === undefined || last < 1 || page() <= last) return;
    setQuery({ page: last === 1 ? undefined : String(last) }, { replace: true });
  });
}
