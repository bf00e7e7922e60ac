// Placeholders of pasted and dropped images while they are uploaded. A placeholder shows the name of the file, and
// moves with the text around it. Sends no requests.
import type { Node } from 'prosemirror-model';
import { Plugin, PluginKey, TextSelection, type EditorState, type Transaction } from 'prosemirror-state';
import { Decoration, DecorationSet, type EditorView } from 'prosemirror-view';
import { t } from '../../text';
import { placeImage } from './commands';

interface UploadPlaceholder {
  id: number;
  name: string;
  pos: number;
  /** The upload is waiting or sending: not refused, not cancelled. */
  running: boolean;
}

type Change =
  | { added: UploadPlaceholder[] }
  | { running: ReadonlySet<number> }
  /** The image is at `from`; further images of the same place come after `to`. */
  | { inserted: number; from: number; to: number };

const key = new PluginKey<UploadPlaceholder[]>('uploads');

function changed(placeholders: UploadPlaceholder[], change: Change | undefined): UploadPlaceholder[] {
  if (!change) return placeholders;
  if ('added' in change) return [...placeholders, ...change.added];
  if ('running' in change)
    return placeholders.map((placeholder) => ({
      ...placeholder,
      running: change.running.has(placeholder.id),
    }));
  const { inserted, from, to } = change;
  return placeholders
    .filter(({ id }) => id !== inserted)
    .map((placeholder) =>
      placeholder.id > inserted && placeholder.pos <= from && placeholder.pos >= from - 1
        ? { ...placeholder, pos: to }
        : placeholder,
    );
}

function mark({ name }: UploadPlaceholder): HTMLElement {
  const element = document.createElement('span');
  element.className = 'uploading';
  element.textContent = t.texts.uploading(name);
  return element;
}

export const uploadPlaceholders = new Plugin<UploadPlaceholder[]>({
  key,
  state: {
    init: () => [],
    apply: (tr, placeholders) => {
      const moved = tr.docChanged
        ? // What is typed at the same place comes after the image.
          placeholders.map((placeholder) => ({ ...placeholder, pos: tr.mapping.map(placeholder.pos, -1) }))
        : placeholders;
      return changed(moved, tr.getMeta(key) as Change | undefined);
    },
  },
  props: {
    decorations: (state) =>
      DecorationSet.create(
        state.doc,
        placeholdersIn(state)
          .filter(({ running }) => running)
          .map((placeholder) =>
            Decoration.widget(placeholder.pos, () => mark(placeholder), {
              side: -1,
              key: String(placeholder.id),
            }),
          ),
      ),
  },
});

function placeholdersIn(state: EditorState): UploadPlaceholder[] {
  return key.getState(state) ?? [];
}

function change(tr: Transaction, meta: Change): Transaction {
  return tr.setMeta(key, meta).setMeta('addToHistory', 'inserted' in meta);
}

/** Adds the place of uploads: the position of a drop, by default that of the cursor. */
export function addPlaceholders(
  view: EditorView,
  files: readonly { id: number; file: { name: string } }[],
  pos = view.state.selection.to,
): void {
  const added = files.map(({ id, file }) => ({ id, name: file.name, pos, running: true }));
  view.dispatch(change(view.state.tr, { added }));
}

/** Shows the marks of uploads that are running. */
export function showRunning(view: EditorView, running: ReadonlySet<number>): void {
  if (placeholdersIn(view.state).some((placeholder) => placeholder.running !== running.has(placeholder.id)))
    view.dispatch(change(view.state.tr, { running }));
}

/** Inserts an uploaded image at its place. A cursor there moves to the line after the image; another one stays. */
export function insertUploaded(view: EditorView, id: number, node: Node): void {
  const { state } = view;
  const pos = placeholdersIn(state).find((placeholder) => placeholder.id === id)?.pos ?? state.selection.to;
  const isHere = state.selection.empty && state.selection.from === pos;
  const { tr, from, to } = placeImage(state, node, pos);
  if (isHere) tr.setSelection(TextSelection.near(tr.doc.resolve(to), 1));
  view.dispatch(change(tr, { inserted: id, from, to }));
}
