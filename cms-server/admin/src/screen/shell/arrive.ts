// Moves the keyboard to the heading of a screen that was opened, as soon as there is one. Knows no screen.

/** Waits for the heading, until something else has the keyboard; returns how to stop. */
export function arrive(main: HTMLElement): () => void {
  const observer = new MutationObserver(look);
  function look() {
    const heading = main.querySelector('h1');
    if (document.activeElement === document.body && !heading) return;
    if (document.activeElement === document.body) heading?.focus({ preventScroll: true });
    observer.disconnect();
  }
  observer.observe(main, { childList: true, subtree: true });
  look();
  return () => observer.disconnect();
}
