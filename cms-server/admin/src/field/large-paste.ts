// Long texts in native controls: browsers insert them line by line, which takes minutes for megabytes.
// Knows no field.

/** Shorter texts are pasted by the browser, which then can undo it. */
const LARGE_PASTE_CHARS = 50_000;

/** Returns whether a text is too long for a control that grows with it. */
export function isLarge(text: string): boolean {
  return text.length > LARGE_PASTE_CHARS;
}

/** Pastes a long text instead of the browser, and returns the new value; null if the browser pastes. */
export function pasteLarge(
  event: ClipboardEvent & { currentTarget: HTMLInputElement | HTMLTextAreaElement },
): string | null {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  const control = event.currentTarget;
  if (!isLarge(text) || control.readOnly) return null;
  event.preventDefault();
  const { selectionStart, selectionEnd, value } = control;
  const start = selectionStart ?? value.length;
  const pasted = control instanceof HTMLInputElement ? text.replace(/[\r\n]+/g, ' ') : text;
  return value.slice(0, start) + pasted + value.slice(selectionEnd ?? start);
}
