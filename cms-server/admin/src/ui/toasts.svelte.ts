// Short messages after an action, in a live region.
export interface Toast {
  id: number;
  message: string;
  kind: 'info' | 'danger';
  /** Something that the user can still do, such as undo. */
  action?: { label: string; run: () => void } | undefined;
}

/** Messages without an action disappear by themselves; those with one stay until they are closed. */
const SHOWN_MS = 6000;

let last = 0;
let shown = $state<Toast[]>([]);

export const toasts = {
  get all(): Toast[] {
    return shown;
  },
};

export function toast(
  message: string,
  options: { kind?: Toast['kind']; action?: Toast['action'] } = {},
): number {
  const id = (last += 1);
  shown = [...shown.slice(-3), { id, message, kind: options.kind ?? 'info', action: options.action }];
  if (!options.action) setTimeout(() => dismissToast(id), SHOWN_MS);
  return id;
}

export function dismissToast(id: number): void {
  shown = shown.filter((toast) => toast.id !== id);
}
