// Whether the list of shortcuts is open.
let shown = $state(false);

export const shortcuts = {
  get shown(): boolean {
    return shown;
  },
};

export function showShortcuts(): void {
  shown = true;
}

export function hideShortcuts(): void {
  shown = false;
}
