// Offers in a message to undo a removal in a control, as long as the control is mounted: afterwards, its value belongs
// to something else.
import { onDestroy } from 'svelte';
import { t } from '../text';
import { dismissToast, toast } from '../ui/toasts.svelte';

/** To be called while a control is created. The result offers an undo, and returns a function that withdraws it. */
export function undoToast(): (message: string, undo: () => void) => () => void {
  const shown: number[] = [];
  onDestroy(() => shown.forEach(dismissToast));
  return (message, undo) => {
    const id = toast(message, { action: { label: t.control.undo, run: undo } });
    shown.push(id);
    return () => dismissToast(id);
  };
}
