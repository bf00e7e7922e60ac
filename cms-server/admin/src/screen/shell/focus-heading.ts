// Moves the focus to the heading of a screen that was opened, as soon as it is rendered. Imports no screen.

/** Waits for the heading, or until another element has the focus; returns how to stop. */
export function focusHeading(main: HTMLElement): () => void {
  const observer = new MutationObserver(focusIfFree);
  function focusIfFree(): void {
    const active = document.activeElement;
    const free = active === null || active === document.body || active === main;
    const heading = main.querySelector('h1');
    if (free && !heading) return;
    if (free) heading?.focus({ preventScroll: true });
    observer.disconnect();
  }
  observer.observe(main, { childList: true, subtree: true });
  focusIfFree();
  return () => observer.disconnect();
}
