// Places a popover beside its opener, inside the window. Knows no component.

const GAP = 4;
const EDGE = 8;

export interface Rect {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
export interface Size {
  width: number;
  height: number;
}

/** Position in the window: below the anchor, or above it where there is more room, at its start edge. */
export function placeBeside(
  anchor: Rect,
  popover: Size,
  view: Size,
  rtl: boolean,
): { left: number; top: number; maxHeight: number } {
  const below = view.height - anchor.bottom - GAP - EDGE;
  const above = anchor.top - GAP - EDGE;
  const onTop = popover.height > below && above > below;
  const maxHeight = Math.max(onTop ? above : below, 96);
  const height = Math.min(popover.height, maxHeight);
  const left = rtl ? anchor.right - popover.width : anchor.left;
  return {
    left: Math.max(EDGE, Math.min(left, view.width - popover.width - EDGE)),
    top: onTop ? anchor.top - GAP - height : anchor.bottom + GAP,
    maxHeight,
  };
}

/** Moves an open popover beside its opener. */
export function place(popover: HTMLElement, anchor: Element): void {
  popover.style.maxBlockSize = '';
  const rect = popover.getBoundingClientRect();
  const view = { width: document.documentElement.clientWidth, height: innerHeight };
  const rtl = getComputedStyle(popover).direction === 'rtl';
  const size = { width: rect.width, height: popover.scrollHeight + 2 };
  const at = placeBeside(anchor.getBoundingClientRect(), size, view, rtl);
  popover.style.left = `${String(at.left)}px`;
  popover.style.top = `${String(at.top)}px`;
  popover.style.maxBlockSize = `${String(at.maxHeight)}px`;
}
