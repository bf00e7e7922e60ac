// Short messages after an action, in a live region.
import { messageOf, type Problem } from '../api/problem';

export interface Toast {
  id: number;
  message: string;
  kind: 'info' | 'danger';
  /** Something that the user can still do, such as undo. */
  action?: { label: string; run: () => void } | undefined;
  /** A later message with the same topic replaces this one. */
  topic?: string | undefined;
}

/** Messages disappear after this time; problems, and messages with an action, stay until they are closed. */
const DURATION_MS = 6000;

let last = 0;
let shown = $state<Toast[]>([]);

interface Place {
  dialog: HTMLDialogElement;
  /** Id of the last message before the dialog was opened. */
  before: number;
}

/** Open modal dialogs, the topmost last: outside of the topmost, nothing can be used, and no message is read out. */
let dialogs = $state.raw<Place[]>([]);

export const toastPlaces = {
  /** The dialog that shows a message; null for the page. A message stays where it was when a dialog opens. */
  dialogOf({ id }: Toast): HTMLDialogElement | null {
    return dialogs.findLast(({ before }) => id > before)?.dialog ?? null;
  },
  add(dialog: HTMLDialogElement): void {
    dialogs = [...dialogs, { dialog, before: last }];
  },
  remove(dialog: HTMLDialogElement): void {
    dialogs = dialogs.filter((other) => other.dialog !== dialog);
  },
};

/** Height of the bar at the end of the screen, which messages do not cover. */
let barHeight = $state(0);

export function setBarHeight(height: number): void {
  barHeight = height;
}

export const toasts = {
  get barHeight(): number {
    return barHeight;
  },
  get all(): Toast[] {
    return shown;
  },
};

/** Says why a request did not succeed. */
export function toastProblem(problem: Problem): void {
  toast(messageOf(problem), { kind: 'danger' });
}

/** Shows a message; returns its id. */
export function toast(
  message: string,
  options: Partial<Pick<Toast, 'kind' | 'action' | 'topic'>> = {},
): number {
  const id = (last += 1);
  const { topic } = options;
  if (topic !== undefined) shown = shown.filter((other) => other.topic !== topic);
  // Of the earlier messages that close automatically, only the last two are kept: more would cover the page.
  const brief = shown.filter((other) => !other.action && other.kind !== 'danger').slice(0, -2);
  shown = [
    ...shown.filter((other) => !brief.includes(other)),
    { id, message, kind: options.kind ?? 'info', action: options.action, topic },
  ];
  if (!options.action && options.kind !== 'danger') setTimeout(() => dismissToast(id), DURATION_MS);
  return id;
}

export function dismissToast(id: number): void {
  shown = shown.filter((toast) => toast.id !== id);
}
