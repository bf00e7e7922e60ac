// Finds the control of a property path in the form, and moves the focus there.

/** Ancestors of a path, the path itself first: `a[0].b`, `a[0]`, `a`. */
export function pathsAbove(path: string): string[] {
  const ends = [...path.matchAll(/[.[]/g)].map((match) => match.index);
  return [path, ...ends.reverse().map((end) => path.slice(0, end))];
}

const FOCUSABLE = 'input, select, textarea, [contenteditable="true"], button, [tabindex="0"]';

/** The controls below an element in their order; source editors have theirs in a shadow root. */
function controlsIn(place: ParentNode): HTMLElement[] {
  return [...place.querySelectorAll<HTMLElement>('*')].flatMap((element) => {
    if (element.shadowRoot) return controlsIn(element.shadowRoot);
    return element.matches(FOCUSABLE) ? [element] : [];
  });
}

/** Focuses the control of a path, else that of the nearest list or object around it. */
export function focusPath(root: HTMLElement, path: string): void {
  for (const candidate of pathsAbove(path)) {
    const place = root.querySelector<HTMLElement>(`[data-path="${CSS.escape(candidate)}"]`);
    if (!place) continue;
    // Opens the collapsed elements around the control.
    for (let at: Element | null = place; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
    place.scrollIntoView({ block: 'center' });
    const controls = controlsIn(place);
    const input = controls.find((control) => control.tagName !== 'BUTTON') ?? controls[0];
    input?.focus({ preventScroll: true });
    return;
  }
}
