// The focus after the element that had it has left the document: the browser does not restore it. Imports no component.

/** Focuses an element, or the heading if the element does not exist any more, unless something else has the focus. */
export function returnFocus(to: Element | null): void {
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    if (to instanceof HTMLElement) to.focus({ preventScroll: true });
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  });
}
