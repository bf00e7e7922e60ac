// Puts values of an earlier version into the form. If the form had unsaved changes, the user can restore them
// as long as the object is open.
import type { Values } from '../../object/form-state.svelte';
import type { ObjectEditor } from '../../object/editor.svelte';
import { valuesBefore } from '../../object/restore-version';
import { t } from '../../text';
import { FORM_TOPIC } from './change-messages';
import { dismissToast, toast } from '../../ui/toasts.svelte';

let undoToast: number | undefined;

export function applyVersion(editor: ObjectEditor, version: number, values: Partial<Values>): void {
  const before = editor.formState.mine;
  const typed = editor.formState.isChanged;
  editor.setValues(values);
  const run = () => editor.setValues(valuesBefore(editor.formState.mine, values, before));
  const action = typed ? { label: t.publishing.undo, run } : undefined;
  undoToast = toast(t.publishing.inForm(String(version)), { action, topic: FORM_TOPIC });
}

/** Removes the undo message when the user leaves the object. */
export function dismissUndo(): void {
  if (undoToast !== undefined) dismissToast(undoToast);
  undoToast = undefined;
}
