// Names of keys, from the notation `Mod-Shift-k`. Mod is Command on Apple computers, else Control.

const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys as people read them: `⌘B`, `Ctrl+B`. */
export function keyLabel(keys: string): string {
  const names: Record<string, string> = APPLE
    ? { Mod: '⌘', Shift: '⇧', Alt: '⌥', ArrowUp: '↑', ArrowDown: '↓' }
    : { Mod: 'Ctrl', ArrowUp: '↑', ArrowDown: '↓' };
  const parts = keys.split('-').map((part) => names[part] ?? part.toUpperCase());
  return parts.join(APPLE ? '' : '+');
}

/** Keys as `aria-keyshortcuts` names them. */
export function ariaKeys(keys: string): string {
  return keys.replace('Mod', APPLE ? 'Meta' : 'Control').replaceAll('-', '+');
}
