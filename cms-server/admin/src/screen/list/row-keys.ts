// Keys of a list. Rows are links with `data-row`; the keys work while one of them has the focus.

/** Handles a key; `ontoggle` selects or deselects the focused row. */
export function handleRowKey(
  event: KeyboardEvent,
  list: HTMLElement,
  letters: boolean,
  ontoggle: (index: number, extend: boolean) => void,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...list.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === event.target);
  if (at < 0) return;
  const step = moveFor(event.key, at, rows.length, letters);
  if (step !== null) rows[step]?.focus();
  else if (letters && event.key.toLowerCase() === 'x') ontoggle(at, event.shiftKey);
  else if (event.key === ' ') ontoggle(at, event.shiftKey);
  else return;
  event.preventDefault();
}

/** The row that a key moves to, or null for another key. */
function moveFor(key: string, at: number, count: number, letters: boolean): number | null {
  const last = count - 1;
  if (key === 'ArrowDown' || (letters && key === 'j')) return Math.min(at + 1, last);
  if (key === 'ArrowUp' || (letters && key === 'k')) return Math.max(at - 1, 0);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}
