// Screens with pages, whose number is in the address. The last one is opened if the address names a later one, because
// the link is old, or because entries were removed since. The list of a type has its own rule.
import { route, setQuery } from '../router.svelte';

interface Query {
  isPlaceholderData: boolean;
}

/** The number of the open page. */
export function pageNumber(parameter = 'page'): number {
  return Math.max(1, Math.floor(Number(route.query.get(parameter))) || 1);
}

/** To be called by the script of a screen. `pages` is undefined before the list is read. */
export function openLastPage(query: Query, pages: () => number | undefined, parameter = 'page'): void {
  $effect(() => {
    const last = pages();
    if (query.isPlaceholderData || last === undefined || last < 1 || pageNumber(parameter) <= last) return;
    setQuery({ [parameter]: String(last) }, { replace: true });
  });
}
