// Moving through a grid by keyboard (ARIA practice: grid). Knows no cell content.
export interface Cell {
  row: number;
  column: number;
}

interface Keys {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** Where a key leads from a cell; null for keys that do not move. Left and right follow the direction of the text. */
export function nextCell(
  { key, ctrlKey, metaKey, altKey }: Keys,
  { row, column }: Cell,
  { rows, columns }: { rows: number; columns: number },
  grid?: Element,
): Cell | null {
  if (altKey) return null;
  const all = ctrlKey || metaKey;
  const onward = grid && getComputedStyle(grid).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  const step = key === onward ? 1 : -1;
  const within = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  switch (key) {
    case 'ArrowDown':
    case 'ArrowUp':
      if (all) return null;
      return { row: within(row + (key === 'ArrowDown' ? 1 : -1), rows), column };
    case 'ArrowLeft':
    case 'ArrowRight':
      if (all) return null;
      return { row, column: within(column + step, columns) };
    case 'Home':
      return { row: all ? 0 : row, column: 0 };
    case 'End':
      return { row: all ? rows - 1 : row, column: columns - 1 };
    case 'PageDown':
    case 'PageUp':
      return { row: within(row + (key === 'PageDown' ? 10 : -10), rows), column };
    default:
      return null;
  }
}
