// Moves the focus to the heading of a screen that was opened. Knows no screen.

/** Waits for the heading, unless the focus is somewhere by then; returns how to stop. */
export function focusHeading(root: HTMLElement): () => void {
  const observer = new MutationObserver(attempt);
  function attempt(): void {
    const heading = root.querySelector('h1');
    if (!heading) return;
    observer.disconnect();
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body || activeElement === root)
      heading.focus({ preventScroll: true });
  }
  observer.observe(root, { childList: true, subtree: true });
  attempt();
  return () => observer.disconnect();
}
