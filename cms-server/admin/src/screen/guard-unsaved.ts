// A form whose text is only on the screen asks before the user leaves it. Objects do not need this: their
// text is stored while it is typed.
import { guardNavigation } from '../router.svelte';
import { t } from '../text';

export const mayDiscard = (): boolean => confirm(t.common.discardTyped);

/** For `$effect`: asks before leaving while `isChanged` returns true. */
export function guardUnsaved(isChanged: () => boolean): () => void {
  const preventUnload = (event: BeforeUnloadEvent) => {
    if (isChanged()) event.preventDefault();
  };
  addEventListener('beforeunload', preventUnload);
  const stop = guardNavigation(() => !isChanged() || mayDiscard());
  return () => {
    removeEventListener('beforeunload', preventUnload);
    stop();
  };
}
