// When the row with the focus is removed from a list, the focus moves to the row that takes its place, else to the
// heading. Imports no component.

const ROW_SELECTOR = 'li, tr';
const CONTROL_SELECTOR = 'a[href], button:not(:disabled)';

interface Place {
  control: Element;
  list: Element | null;
  index: number;
}

/** For `{@attach}` on the element around the rows. */
export function keepFocus(node: HTMLElement): () => void {
  let last: Place | null = null;
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    const row = target.closest(ROW_SELECTOR);
    const list = row?.parentElement ?? null;
    last = { control: target, list, index: row && list ? [...list.children].indexOf(row) : 0 };
  };
  const observer = new MutationObserver(() => {
    if (!last || last.control.isConnected || document.activeElement !== document.body) return;
    const { list, index } = last;
    last = null;
    const row = list?.isConnected ? (list.children[index] ?? list.lastElementChild) : null;
    const control = row?.querySelector<HTMLElement>(CONTROL_SELECTOR) ?? headingOf(node);
    control?.focus();
  });
  node.addEventListener('focusin', note);
  observer.observe(node, { childList: true, subtree: true });
  return () => {
    node.removeEventListener('focusin', note);
    observer.disconnect();
  };
}

function headingOf(node: HTMLElement): HTMLElement | null {
  const heading =
    node.closest('section')?.querySelector<HTMLElement>('h2') ?? document.querySelector<HTMLElement>('h1');
  if (heading && !heading.hasAttribute('tabindex')) heading.tabIndex = -1;
  return heading;
}
