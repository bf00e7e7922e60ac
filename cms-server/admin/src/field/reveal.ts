// Long lists render only some of their items. To show the value at a path, `reveal` asks the lists to render the
// item that contains it. Knows no list.
import type { Attachment } from 'svelte/attachments';

const EVENT_NAME = 'reveal';
const REVEALS_ATTRIBUTE = 'data-reveals';

/** Attachment of a list: when a path inside the list is revealed, calls `show` with the index of the item. */
export function onReveal(path: string, show: (index: number) => void): Attachment {
  return (element) => {
    const listener = (event: Event) => {
      if (!(event instanceof CustomEvent) || typeof event.detail !== 'string') return;
      const suffix = event.detail.startsWith(`${path}[`) ? event.detail.slice(path.length + 1) : '';
      const index = Number.parseInt(suffix, 10);
      if (!Number.isNaN(index)) show(index);
    };
    element.setAttribute(REVEALS_ATTRIBUTE, '');
    element.addEventListener(EVENT_NAME, listener);
    return () => element.removeEventListener(EVENT_NAME, listener);
  };
}

/** Asks all mounted lists to show the item of a path. A list inside it is mounted later, and needs another call. */
export function reveal(root: Element, path: string): void {
  for (const element of root.querySelectorAll(`[${REVEALS_ATTRIBUTE}]`)) {
    element.dispatchEvent(new CustomEvent(EVENT_NAME, { detail: path }));
  }
}
