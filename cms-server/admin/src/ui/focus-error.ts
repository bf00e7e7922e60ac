// The focus after a refused save: at the first field with an error, or else at the message. Knows no form.
import { tick } from 'svelte';

const PLACES = [
  '[aria-invalid="true"]',
  '[data-invalid] :is(input, select, textarea, button):not(:disabled)',
  '[role="alert"]',
];

/** Moves the focus to what is wrong below `root`, and scrolls there. */
export async function focusError(root: ParentNode | null | undefined): Promise<void> {
  await tick();
  const found = PLACES.map((place) => root?.querySelector<HTMLElement>(place)).find((element) => element);
  if (!found) return;
  if (found.matches('[role="alert"]')) found.tabIndex = -1;
  found.focus({ preventScroll: true });
  found.scrollIntoView({ block: 'center' });
}
