// Actions on an open object, except saving: the entries of its menu. It shows why an action is not possible; the
// command palette leaves such actions out. Imports no component.
import { isPublic, type Action } from '../../../object/publish-rules';
import type { Publishing } from '../../../object/publishing.svelte';
import { navigate, objectHref } from '../../../router.svelte';
import { may, session } from '../../../session/session.svelte';
import { t } from '../../../text';
import { dateTime } from '../../../text/format';
import type { MenuItem } from '../../../ui/Menu.svelte';
import { toast } from '../../../ui/toasts.svelte';

/** Why an action is not possible; undefined when it is. */
function reasonAgainst(publishing: Publishing, action: Action): string | undefined {
  if (!publishing.mayPublish) return t.publishing.reason.noRight;
  const permitted = publishing.may(action);
  if (permitted === 'allowed') return undefined;
  if (permitted === 'done')
    return action === 'unpublish' ? t.publishing.reason.unpublishDraft : t.publishing.reason.already;
  return action === 'archive' ? t.publishing.reason.archiveDraft : t.publishing.reason.unpublishArchived;
}

function reasonAgainstSchedule(publishing: Publishing): string | undefined {
  if (!publishing.mayPublish) return t.publishing.reason.noRight;
  if (publishing.maySchedule) return undefined;
  return publishing.status === 'archived'
    ? t.publishing.reason.scheduleArchived
    : t.publishing.reason.nothingToSchedule;
}

function reasonAgainstDeletion(publishing: Publishing): string | undefined {
  const { type, object } = publishing.editor;
  if (!may('d', type.name)) return t.publishing.reason.noDelete;
  const isSeen = (type.draftPublic || type.restrictsReaders) && isPublic(type, object?.internal ?? {});
  return isSeen && !session.mayPublish ? t.publishing.reason.deletePublic : undefined;
}

async function duplicate(publishing: Publishing): Promise<void> {
  const id = await publishing.duplicate();
  if (id === null) return;
  navigate(objectHref(publishing.editor.type.name, id));
  toast(t.publishing.duplicated);
}

function item(
  label: string,
  run: () => void,
  disabledReason?: string,
  extra: Partial<MenuItem> = {},
): MenuItem {
  return { label, run, ...(disabledReason !== undefined && { disabledReason }), ...extra };
}

export function objectActions(publishing: Publishing): MenuItem[] {
  const { type } = publishing.editor;
  const open = (dialog: Publishing['dialog']) => () => (publishing.dialog = dialog);
  const list: MenuItem[] = [];
  if (type.draftPublic && publishing.mayUpdate) {
    list.push(item(t.publishing.scheduleAction, open('schedule'), reasonAgainstSchedule(publishing)));
    if (publishing.scheduledAt !== null) {
      const unschedule = async () => {
        if (await publishing.unschedule()) toast(t.publishing.isUnscheduled);
      };
      const reason = publishing.mayPublish ? undefined : t.publishing.reason.noRight;
      const detail = dateTime(publishing.scheduledAt);
      list.push(item(t.publishing.cancelSchedule, () => void unschedule(), reason, { detail }));
    }
    list.push(item(t.publishing.unpublish, open('unpublish'), reasonAgainst(publishing, 'unpublish')));
    list.push(item(t.publishing.archive, open('archive'), reasonAgainst(publishing, 'archive')));
  }
  if (!type.admin.single) {
    const reason = may('c', type.name) ? undefined : t.publishing.reason.noCreate;
    const detail = publishing.editor.formState.isChanged ? { detail: t.publishing.unsavedNotSeen } : {};
    list.push(item(t.publishing.duplicate, () => void duplicate(publishing), reason, detail));
  }
  list.push(item(t.publishing.delete, open('delete'), reasonAgainstDeletion(publishing), { danger: true }));
  return list;
}
