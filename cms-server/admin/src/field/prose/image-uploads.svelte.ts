// Images that are pasted or dropped into a text: uploaded, then inserted where they were pasted.
import type { EditorView } from 'prosemirror-view';
import { MEDIA_TYPE } from '../../object/summary';
import { Uploads } from '../../object/uploads.svelte';
import { may } from '../../session/session.svelte';
import type { EditorConfig } from './editor-config';
import { addPlaces, insertUploaded, showRunning } from './upload-places';

export class ImageUploads {
  readonly uploads: Uploads;

  constructor(
    private readonly kind: () => EditorConfig,
    private readonly current: () => EditorView | undefined,
  ) {
    this.uploads = new Uploads((file, { id }) => {
      const node = kind().imageNode(file);
      const view = this.#view;
      if (node && view) insertUploaded(view, id, node);
    });
    const running = $derived(
      this.uploads.items
        .filter(({ state }) => state === 'waiting' || state === 'sending')
        .map(({ id }) => id),
    );
    $effect(() => {
      const view = this.#view;
      if (view) showRunning(view, running);
    });
  }

  get #view(): EditorView | undefined {
    const view = this.current();
    return view?.isDestroyed ? undefined : view;
  }

  /** Takes files for a place, else for the cursor; false when the user may not upload. */
  take(files: File[], place?: number): boolean {
    if (!may('c', MEDIA_TYPE) || !this.kind().takesImages) return false;
    const added = this.uploads.add(files);
    const view = this.#view;
    if (view) addPlaces(view, added, place);
    return true;
  }
}
