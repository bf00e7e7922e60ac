// Undoing a removal in a control: offered in a message as long as the control is there, since afterwards the
// value belongs to something else.
import { onDestroy } from 'svelte';
import { t } from '../text';
import { dismissToast, toast } from '../ui/toasts.svelte';

/** To be called while a control is created: gives the function that offers to undo, which returns how to withdraw it. */
export function undoToast(): (message: string, undo: () => void) => () => void {
  const shown: number[] = [];
  onDestroy(() => shown.forEach(dismissToast));
  return (message, undo) => {
    const id = toast(message, { action: { label: t.control.undo, run: undo } });
    shown.push(id);
    return () => dismissToast(id);
  };
}
