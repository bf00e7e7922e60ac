// Lists with pages: the last page is opened if the address names a later one, because the link is old, or because
// entries were removed since.
import { setQuery } from '../router.svelte';

interface Query {
  isPlaceholderData: boolean;
}

/** To be called by the script of a screen. `pages` is undefined before the list is read. */
export function openLastPage(
  query: Query,
  page: () => number | null,
  pages: () => number | undefined,
  parameter = 'page',
): void {
  $effect(() => {
    const [current, last] = [page(), pages()];
    if (query.isPlaceholderData || current === null || last === undefined || last < 1) return;
    if (current > last) setQuery({ [parameter]: last === 1 ? undefined : String(last) }, { replace: true });
  });
}
