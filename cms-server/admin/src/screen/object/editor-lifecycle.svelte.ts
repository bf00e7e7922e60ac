// The lifecycle of an ObjectEditor in a component: opens it, stores and validates edits, follows changes by
// others, and asks before unsaved text is lost.
import { onDestroy, onMount } from 'svelte';
import type { Problem } from '../../api/problem';
import { tabName } from '../../api/tab';
import { ObjectEditor } from '../../object/editor.svelte';
import type { EditorEvents } from '../../object/newer-version';
import { onBeforeSignOut, hasUnsavedText } from '../../object/sign-out-work';
import { linksIn } from '../../object/links';
import { requestSummaries } from '../../object/summary-cache.svelte';
import { openNew, openObject } from '../../object/open-object';
import { may, session, typeNamed } from '../../session/session.svelte';
import { t } from '../../text';
import type { ContentType } from '../../type/definition';
import { targetOfPath } from '../../value/link';
import { loadWhenIdle } from '../../ui/when-idle';
import { guardLeaving } from '../guard-leaving';
import { guardUploads } from '../guard-uploads';
import { onChange } from '../live.svelte';
import { lazyParts } from './lazy-parts';

/** The pause after the last key press before the values are checked. */
const VALIDATION_DELAY_MS = 1200;

/** Links of one property that are shown at first. */
const SHOWN_LINKS = 50;

/**
 * Opens an object with the unsaved work of the user. If `id` is null, opens the new object with the key `objectKey`,
 * or if this is null the one with the newest unsaved work.
 */
export async function openEditor(
  type: ContentType,
  id: string | null,
  objectKey: string | null,
  events: EditorEvents,
): Promise<{ editor: ObjectEditor } | { problem: Problem }> {
  const opener = {
    user: session.context?.user.id ?? '',
    writes: may(id === null ? 'c' : 'u', type.name),
  };
  const tab = await tabName();
  const opened =
    id === null ? await openNew(type.name, objectKey, opener) : await openObject(type.name, id, opener);
  if ('problem' in opened) return opened;
  // Requests all titles together, while the controls that show them are still being loaded.
  const values = Object.values(opened.found?.values ?? opened.object ?? {});
  const shown = values.map((value: unknown) => (Array.isArray(value) ? value.slice(0, SHOWN_LINKS) : value));
  const links = linksIn(shown);
  requestSummaries(links.flatMap((dataUrl) => targetOfPath(dataUrl) ?? []));
  return { editor: new ObjectEditor(type, opened, tab, events) };
}

/** Attaches the editor to its component until the component is destroyed. */
export function attachEditor(typeName: () => string, editor: () => ObjectEditor | null): void {
  $effect(() => {
    const current = editor();
    if (!current) return;
    void current.formState.mine;
    current.storeUnsavedWork();
    const pause = setTimeout(() => void current.check(), VALIDATION_DELAY_MS);
    return () => clearTimeout(pause);
  });
  $effect(() => {
    const type = typeNamed(typeName());
    if (type) void editor()?.setType(type);
  });
  $effect(() => {
    const current = editor();
    if (!current) return;
    return onChange((change) => {
      if (change === null) void current.refresh();
      else if (change.contentType === current.type.name && change.id === current.id) void current.refresh();
    });
  });

  /** Returns whether leaving would lose text: only if the text could not be stored anywhere. */
  const wouldLose = () => {
    if (hasUnsavedText()) return true;
    const { unsavedState, formState } = editor() ?? {};
    if (!formState?.isChanged || !unsavedState) return false;
    // This browser cannot store the work, and the request to the server may not finish before the page is closed.
    return (
      unsavedState.status === 'failed' || (unsavedState.deviceFailed && unsavedState.status === 'pending')
    );
  };
  const uploads = {
    get running() {
      return editor()?.formState.uploads.running ?? 0;
    },
    cancelAll: () => editor()?.formState.uploads.cancelAll(),
  };
  onMount(() => guardUploads(uploads, () => t.shell.leaveUploads));
  onMount(() => loadWhenIdle(Object.values(lazyParts)));
  const listeners: [EventTarget, string, () => void][] = [
    [window, 'pagehide', () => editor()?.unsavedWork.flushOnPageHide()],
    [
      window,
      'online',
      () => {
        editor()?.retryNow();
        void editor()?.unsavedWork.flush();
      },
    ],
    [window, 'blur', () => void editor()?.unsavedWork.flush()],
    [
      document,
      'visibilitychange',
      () => document.visibilityState === 'hidden' && editor()?.unsavedWork.flushOnPageHide(),
    ],
  ];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);
  const stops = [
    guardLeaving(wouldLose, () => confirm(t.shell.leave)),
    onBeforeSignOut(async () => {
      await editor()?.unsavedWork.flush();
      return !wouldLose();
    }),
  ];
  onDestroy(() => {
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
    for (const stop of stops) stop();
    void editor()?.unsavedWork.end();
  });
}
