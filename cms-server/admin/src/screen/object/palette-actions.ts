// Actions on the open object in the command palette: what is allowed at this moment. Imports no component.
import type { ObjectEditor } from '../../object/editor.svelte';
import { publishingOf } from '../../object/publishing.svelte';
import { navigate, objectHref } from '../../router.svelte';
import { formFor } from '../../session/session.svelte';
import { t } from '../../text';
import { TRANSLATIONS } from '../../type/form';
import type { PaletteItem } from '../../ui/CommandPalette.svelte';
import { keyLabel } from '../../ui/key-labels';
import { openPreview } from './preview/open-preview';
import { hasPreview } from './preview/preview';
import { objectActions } from './side/object-actions';

export function paletteActions(editor: ObjectEditor, ondiscard: () => void): PaletteItem[] {
  const { id, type, formState } = editor;
  const items: PaletteItem[] = [];
  const isWritable = !editor.readonly && editor.deleted === null;
  const isSavable = editor.state !== 'saving' && !formState.isUploading;
  if (isWritable && isSavable && (formState.isChanged || id === null)) {
    const keys = keyLabel('Mod-s');
    items.push({ id: 'save', label: t.object.save, keys, run: () => void editor.save() });
  }
  const publishing = publishingOf(editor);
  if (publishing.mayOfferPublish && !publishing.busy && editor.deleted === null) {
    const keys = keyLabel('Mod-Shift-p');
    const run = () => (publishing.dialog = 'publish');
    items.push({ id: 'publish', label: t.publishing.publish, keys, run });
  }
  if (id !== null && editor.deleted === null) {
    if (hasPreview(type))
      items.push({ id: 'preview', label: t.publishing.preview, run: () => openPreview(editor) });
    const panel = (name: string) => () => navigate(objectHref(type.name, id, { panel: name }));
    if (formFor(type).fields.some(({ name }) => name === TRANSLATIONS))
      items.push({ id: 'translations', label: t.object.translations, run: panel('translations') });
    items.push({ id: 'versions', label: t.object.versions, run: panel('versions') });
    items.push({ id: 'used', label: t.object.usedBy, run: panel('used') });
    for (const { label, run, disabledReason } of objectActions(publishing))
      if (run && disabledReason === undefined && !publishing.busy) items.push({ id: label, label, run });
  }
  if (isWritable && formState.isChanged)
    items.push({ id: 'discard', label: t.writing.discard, run: ondiscard });
  return items.map((item) => ({ ...item, id: `a-${item.id}` }));
}
