// Opening a modal dialog: the first control of its content gets the focus, even when the control with the focus is
// removed. Afterwards, the element that opened the dialog gets it back. Imports no component.
import { untrack } from 'svelte';
import { returnFocus } from './return-focus';
import { toastPlaces } from './toasts.svelte';

const CONTROL_SELECTOR = 'input, select, textarea, button';
/** What opened the last dialog: a dialog that follows another one has the same opener. */
let lastOpener: Element | null = null;

/** Shows the dialog; returns a function to call after the dialog was removed. */
export function openModal(dialog: HTMLDialogElement): () => void {
  const active = document.activeElement;
  const opener = active === null || active === document.body ? lastOpener : active;
  lastOpener = opener;
  // Browsers close a dialog at the second Escape in a row, even if the page has handled the first. The dialog is
  // opened again, because only its component may close it.
  let inside: Element | null = null;
  const note = (event: FocusEvent) => {
    if (event.target instanceof Element) inside = event.target;
  };
  const reopen = () => {
    if (!dialog.isConnected || dialog.open) return;
    dialog.showModal();
    if (inside instanceof HTMLElement) inside.focus();
  };
  const observer = new MutationObserver(() => {
    if (inside?.isConnected === false && document.activeElement === document.body) first(dialog)?.focus();
  });
  untrack(() => toastPlaces.add(dialog));
  dialog.addEventListener('focusin', note);
  dialog.addEventListener('close', reopen);
  observer.observe(dialog, { childList: true, subtree: true });
  dialog.showModal();
  if (!dialog.querySelector('[autofocus]')) first(dialog)?.focus();
  return () => {
    toastPlaces.remove(dialog);
    dialog.removeEventListener('focusin', note);
    dialog.removeEventListener('close', reopen);
    observer.disconnect();
    returnFocus(opener);
  };
}

/** The first control of the content, else the first button at the end: the one that changes nothing. */
function first(dialog: HTMLDialogElement): HTMLElement | undefined {
  const of = (part: string) =>
    [...dialog.querySelectorAll<HTMLElement>(`${part} :is(${CONTROL_SELECTOR})`)].find(
      (control) => !control.matches(':disabled') && control.checkVisibility(),
    );
  return of('.body') ?? of('.actions');
}
