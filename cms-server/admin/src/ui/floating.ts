// Keeps an open popover beside its anchor while the page moves under it.
import { place } from './place';

/** Shows `popover` at `anchor`; returns how to stop and hide it. */
export function float(
  popover: HTMLElement,
  anchor: HTMLElement,
  options: { fitWidth?: boolean } = {},
): () => void {
  const update = () => {
    if (options.fitWidth) popover.style.inlineSize = `${String(anchor.offsetWidth)}px`;
    const { scrollTop } = popover;
    place(popover, anchor);
    popover.scrollTop = scrollTop;
  };
  const scrolled = (event: Event) => {
    if (event.target !== popover) update();
  };
  if (!popover.matches(':popover-open')) popover.showPopover();
  update();
  const resized = new ResizeObserver(update);
  resized.observe(anchor);
  for (const child of popover.children) resized.observe(child);
  addEventListener('scroll', scrolled, { capture: true, passive: true });
  addEventListener('resize', update);
  return () => {
    resized.disconnect();
    removeEventListener('scroll', scrolled, { capture: true });
    removeEventListener('resize', update);
    if (popover.matches(':popover-open')) popover.hidePopover();
  };
}
