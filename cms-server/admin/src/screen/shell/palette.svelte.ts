// The command palette: whether it is open, and the actions that the open screen offers in it.
import { untrack } from 'svelte';
import type { PaletteItem } from '../../ui/CommandPalette.svelte';

let open = $state(false);
let sources = $state.raw<(() => PaletteItem[])[]>([]);

export const palette = {
  get open(): boolean {
    return open;
  },
  /** Actions of the open screen, at this moment. */
  get actions(): PaletteItem[] {
    return sources.flatMap((source) => source());
  },
};

export function openPalette(): void {
  open = true;
}

export function closePalette(): void {
  open = false;
}

/** Offers actions in the palette, such as "Publish"; returns how to take them back. For `$effect`. */
export function offerActions(source: () => PaletteItem[]): () => void {
  // Effects that offer actions must not depend on what others offer.
  sources = [...untrack(() => sources), source];
  return () => {
    sources = untrack(() => sources).filter((other) => other !== source);
  };
}
