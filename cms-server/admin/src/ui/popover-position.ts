// Places a popover beside its opener, inside the window. Imports no component.

const ANCHOR_GAP_PX = 4;
const WINDOW_MARGIN_PX = 8;

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
export function positionBeside(
  anchor: Rect,
  popover: Size,
  view: Size,
  rtl: boolean,
): { left: number; top: number; maxHeight: number } {
  const below = view.height - anchor.bottom - ANCHOR_GAP_PX - WINDOW_MARGIN_PX;
  const above = anchor.top - ANCHOR_GAP_PX - WINDOW_MARGIN_PX;
  const onTop = popover.height > below && above > below;
  const maxHeight = Math.max(onTop ? above : below, 96);
  const height = Math.min(popover.height, maxHeight);
  const left = rtl ? anchor.right - popover.width : anchor.left;
  return {
    left: Math.max(WINDOW_MARGIN_PX, Math.min(left, view.width - popover.width - WINDOW_MARGIN_PX)),
    top: onTop ? anchor.top - ANCHOR_GAP_PX - height : anchor.bottom + ANCHOR_GAP_PX,
    maxHeight,
  };
}

/** Moves an open popover beside its opener. */
export function positionPopover(popover: HTMLElement, anchor: Element): void {
  popover.style.maxBlockSize = '';
  const rect = popover.getBoundingClientRect();
  const view = { width: document.documentElement.clientWidth, height: innerHeight };
  const rtl = getComputedStyle(popover).direction === 'rtl';
  const size = { width: rect.width, height: popover.scrollHeight + 2 };
  const at = positionBeside(anchor.getBoundingClientRect(), size, view, rtl);
  popover.style.left = `${String(at.left)}px`;
  popover.style.top = `${String(at.top)}px`;
  popover.style.maxBlockSize = `${String(at.maxHeight)}px`;
}
