// Puts values of an earlier version into the form. If the form had unsaved changes, the user can restore them
// as long as the object is open.
import type { Values } from '../../object/form-state.svelte';
import type { ObjectEditor } from '../../object/editor.svelte';
import { valuesBefore } from '../../object/restore-version';
import { t } from '../../text';
import { FORM_TOPIC } from './change-messages';
import { dismissToast, toast } from '../../ui/toasts.svelte';

let undoToast: number | undefined;
/** The last restore. A second one, of another version, is undone together with it. */
let last: { result: Values; restored: Partial<Values>; before: Values; hadChanges: boolean } | undefined;

export function applyVersion(editor: ObjectEditor, version: number, values: Partial<Values>): void {
  const earlier = last?.result === editor.formState.mine ? last : undefined;
  const before = earlier?.before ?? editor.formState.mine;
  const hadChanges = earlier?.hadChanges ?? editor.formState.isChanged;
  const restored = { ...earlier?.restored, ...values };
  editor.setValues(values);
  last = { result: editor.formState.mine, restored, before, hadChanges };
  const run = () => editor.setValues(valuesBefore(editor.formState.mine, restored, before));
  const action = hadChanges ? { label: t.publishing.undo, run } : undefined;
  undoToast = toast(t.publishing.inForm(String(version)), { action, topic: FORM_TOPIC });
}

/** Removes the undo message when the user leaves the object. */
export function dismissUndo(): void {
  if (undoToast !== undefined) dismissToast(undoToast);
  undoToast = undefined;
  last = undefined;
}
