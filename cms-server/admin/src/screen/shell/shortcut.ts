// Recognizes shortcuts of the page: they must be switched on, and no dialog may cover the element on which they act.
import { preferences } from '../../session/preferences.svelte';

/** Returns whether `event` is ⌘ or Ctrl with `key`, and `within` is not behind a dialog. */
export function isShortcut(
  event: KeyboardEvent,
  key: string,
  within: Element | undefined,
  shift = false,
): boolean {
  if (!preferences.shortcuts || event.defaultPrevented) return false;
  if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey !== shift) return false;
  if (event.key.toLowerCase() !== key) return false;
  return [...document.querySelectorAll('dialog[open]')].every((dialog) => dialog.contains(within ?? null));
}
