// Places a popover beside its anchor: below, or above when there is more room. Knows positions only.

const MARGIN = 8;

/** Shows `popover` at `anchor` and keeps it there while the page moves; returns how to stop and hide it. */
export function float(
  popover: HTMLElement,
  anchor: HTMLElement,
  options: { fitWidth?: boolean } = {},
): () => void {
  function place() {
    const at = anchor.getBoundingClientRect();
    const below = innerHeight - at.bottom - MARGIN;
    const above = at.top - MARGIN;
    const up = below < Math.min(popover.scrollHeight, 240) && above > below;
    const style = popover.style;
    style.maxBlockSize = `${String(Math.max(96, Math.min(up ? above : below, 448)))}px`;
    if (options.fitWidth) style.inlineSize = `${String(at.width)}px`;
    const width = popover.offsetWidth;
    const start = getComputedStyle(anchor).direction === 'rtl' ? at.right - width : at.left;
    style.left = `${String(Math.max(MARGIN, Math.min(start, innerWidth - width - MARGIN)))}px`;
    style.top = up ? '' : `${String(at.bottom + 2)}px`;
    style.bottom = up ? `${String(innerHeight - at.top + 2)}px` : '';
  }
  if (!popover.matches(':popover-open')) popover.showPopover();
  place();
  const resized = new ResizeObserver(place);
  resized.observe(anchor);
  resized.observe(popover);
  addEventListener('scroll', place, { capture: true, passive: true });
  addEventListener('resize', place);
  return () => {
    resized.disconnect();
    removeEventListener('scroll', place, { capture: true });
    removeEventListener('resize', place);
    if (popover.matches(':popover-open')) popover.hidePopover();
  };
}
