// Keeps an open popover beside its anchor while the page moves under it.
import { positionPopover } from './popover-position';

/** Shows `popover` at `anchor`; returns a function that stops this and hides it. */
export function followAnchor(
  popover: HTMLElement,
  anchor: HTMLElement,
  options: { fitWidth?: boolean } = {},
): () => void {
  const update = () => {
    if (options.fitWidth) popover.style.inlineSize = `${String(anchor.offsetWidth)}px`;
    // Placing measures the full height, which would scroll the list to its start.
    const boxes = [popover, ...popover.children];
    const offsets = boxes.map((box) => box.scrollTop);
    positionPopover(popover, anchor);
    boxes.forEach((box, index) => (box.scrollTop = offsets[index] ?? 0));
  };
  const scrolled = (event: Event) => {
    if (!(event.target instanceof Node && popover.contains(event.target))) update();
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
