// The places of pasted and dropped images while they are uploaded. A place is shown by the name of the file, and
// moves with the text around it. Knows no request.
import type { Node } from 'prosemirror-model';
import { Plugin, PluginKey, TextSelection, type EditorState, type Transaction } from 'prosemirror-state';
import { Decoration, DecorationSet, type EditorView } from 'prosemirror-view';
import { t } from '../../text';
import { placeImage } from './commands';

interface Place {
  id: number;
  name: string;
  pos: number;
  /** The upload is waiting or sending: not refused, not cancelled. */
  running: boolean;
}

type Change =
  | { added: Place[] }
  | { running: ReadonlySet<number> }
  /** The image is at `from`; further images of the same place come after `to`. */
  | { inserted: number; from: number; to: number };

const key = new PluginKey<Place[]>('uploads');

function changed(places: Place[], change: Change | undefined): Place[] {
  if (!change) return places;
  if ('added' in change) return [...places, ...change.added];
  if ('running' in change)
    return places.map((place) => ({ ...place, running: change.running.has(place.id) }));
  const { inserted, from, to } = change;
  return places
    .filter(({ id }) => id !== inserted)
    .map((place) =>
      place.id > inserted && place.pos <= from && place.pos >= from - 1 ? { ...place, pos: to } : place,
    );
}

function mark({ name }: Place): HTMLElement {
  const element = document.createElement('span');
  element.className = 'uploading';
  element.textContent = t.texts.uploading(name);
  return element;
}

export const uploadPlaces = new Plugin<Place[]>({
  key,
  state: {
    init: () => [],
    apply: (tr, places) => {
      const moved = tr.docChanged
        ? // What is typed at the same place comes after the image.
          places.map((place) => ({ ...place, pos: tr.mapping.map(place.pos, -1) }))
        : places;
      return changed(moved, tr.getMeta(key) as Change | undefined);
    },
  },
  props: {
    decorations: (state) =>
      DecorationSet.create(
        state.doc,
        placesIn(state)
          .filter(({ running }) => running)
          .map((place) =>
            Decoration.widget(place.pos, () => mark(place), { side: -1, key: String(place.id) }),
          ),
      ),
  },
});

function placesIn(state: EditorState): Place[] {
  return key.getState(state) ?? [];
}

function change(tr: Transaction, meta: Change): Transaction {
  return tr.setMeta(key, meta).setMeta('addToHistory', 'inserted' in meta);
}

/** Adds the place of uploads: the position of a drop, by default that of the cursor. */
export function addPlaces(
  view: EditorView,
  files: readonly { id: number; file: { name: string } }[],
  pos = view.state.selection.to,
): void {
  const added = files.map(({ id, file }) => ({ id, name: file.name, pos, running: true }));
  view.dispatch(change(view.state.tr, { added }));
}

/** Shows the marks of uploads that are running. */
export function showRunning(view: EditorView, running: ReadonlySet<number>): void {
  if (placesIn(view.state).some((place) => place.running !== running.has(place.id)))
    view.dispatch(change(view.state.tr, { running }));
}

/** Inserts an uploaded image at its place. A cursor there moves to the line after the image; another one stays. */
export function insertUploaded(view: EditorView, id: number, node: Node): void {
  const { state } = view;
  const pos = placesIn(state).find((place) => place.id === id)?.pos ?? state.selection.to;
  const isHere = state.selection.empty && state.selection.from === pos;
  const { tr, from, to } = placeImage(state, node, pos);
  if (isHere) tr.setSelection(TextSelection.near(tr.doc.resolve(to), 1));
  view.dispatch(change(tr, { inserted: id, from, to }));
}
