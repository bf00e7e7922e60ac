// Recognizes shortcuts of the page: they must be switched on, and no dialog may cover the element on which they act.
import { preferences } from '../../session/preferences.svelte';

/** Returns whether `event` is ⌘ or Ctrl with `key`, and `within` is not behind the dialog that has the focus. */
export function isShortcut(
  event: KeyboardEvent,
  key: string,
  within: Element | undefined,
  shift = false,
): boolean {
  if (!preferences.shortcuts || event.defaultPrevented) return false;
  if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey !== shift) return false;
  if (event.key.toLowerCase() !== key) return false;
  const focused = event.target instanceof Element ? event.target.closest('dialog[open]') : null;
  const dialogs = focused ? [focused] : [...document.querySelectorAll('dialog[open]')];
  return dialogs.every((dialog) => dialog.contains(within ?? null));
}
