// Values of an earlier version go into the form. What was typed there and not saved can be brought back,
// as long as the object is open.
import type { Values } from '../../object/form-state.svelte';
import type { ObjectEditor } from '../../object/editor.svelte';
import { valuesBefore } from '../../object/restore-version';
import { t } from '../../text';
import { FORM_TOPIC } from './change-messages';
import { dismissToast, toast } from '../../ui/toasts.svelte';

let offered: number | undefined;

export function applyVersion(editor: ObjectEditor, version: number, values: Partial<Values>): void {
  const before = editor.formState.mine;
  const typed = editor.formState.isChanged;
  editor.setValues(values);
  const run = () => editor.setValues(valuesBefore(editor.formState.mine, values, before));
  const action = typed ? { label: t.publishing.undo, run } : undefined;
  offered = toast(t.publishing.inForm(String(version)), { action, topic: FORM_TOPIC });
}

/** The object is left. */
export function dismissUndo(): void {
  if (offered !== undefined) dismissToast(offered);
  offered = undefined;
}
