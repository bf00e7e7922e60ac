// Pasting a long text: browsers insert it line by line, which takes minutes for megabytes. Knows no field.

/** Shorter texts are pasted by the browser, which then can undo it. */
const LARGE_CHARS = 50_000;

/** Tells whether a text is so long that a control must not grow with it. */
export function isLarge(text: string): boolean {
  return text.length > LARGE_CHARS;
}

/** Puts a long text into the control at once. */
export function pasteLarge(
  event: ClipboardEvent & { currentTarget: HTMLInputElement | HTMLTextAreaElement },
): void {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  const control = event.currentTarget;
  if (!isLarge(text) || control.readOnly) return;
  event.preventDefault();
  const { selectionStart, selectionEnd, value } = control;
  const isLine = control instanceof HTMLInputElement;
  const start = selectionStart ?? value.length;
  control.setRangeText(isLine ? text.replace(/[\r\n]+/g, ' ') : text, start, selectionEnd ?? start, 'end');
  control.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
}
