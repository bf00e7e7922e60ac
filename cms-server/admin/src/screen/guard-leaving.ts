// A screen that would lose something asks before the user leaves it.
import { guardNavigation } from '../router.svelte';
import { t } from '../text';

/** Asks about a text that is only on the screen. Objects do not need this: their text is stored while it is typed. */
export const mayDiscard = (): boolean => confirm(t.common.discardTyped);

/** Until the returned function is called: `mayLeave` is asked before leaving while `wouldLose` returns true. */
export function guardLeaving(wouldLose: () => boolean, mayLeave: () => boolean): () => void {
  const preventUnload = (event: BeforeUnloadEvent) => {
    if (wouldLose()) event.preventDefault();
  };
  addEventListener('beforeunload', preventUnload);
  const stop = guardNavigation(() => !wouldLose() || mayLeave());
  return () => {
    removeEventListener('beforeunload', preventUnload);
    stop();
  };
}
