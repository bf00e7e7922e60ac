// Opens the preview of an object: beside its form, or in a tab where the site may not stand in a frame.
import { messageOf } from '../../../api/problem';
import type { ObjectEditor } from '../../../object/editor.svelte';
import { setQuery } from '../../../router.svelte';
import { t } from '../../../text';
import { toast } from '../../../ui/toasts.svelte';
import { isEmbeddable, requestPreview } from './preview';

export function openPreview(editor: ObjectEditor): void {
  if (isEmbeddable(editor.type)) setQuery({ preview: '1', panel: undefined });
  else void openTab(editor);
}

async function openTab(editor: ObjectEditor): Promise<void> {
  // A tab must be opened by the click itself, before the response arrives.
  const tab = window.open('', '_blank');
  const result = await requestPreview(editor.type.name, editor.id ?? '');
  if ('problem' in result || result.data.url === null) {
    tab?.close();
    const message = 'problem' in result ? messageOf(result.problem) : t.publishing.noPreview;
    toast(message, { kind: 'danger' });
    return;
  }
  if (!tab) return;
  tab.opener = null;
  tab.location.replace(result.data.url);
}
