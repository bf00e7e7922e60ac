// Commands that rich texts and blocks share.
import { toggleMark } from 'prosemirror-commands';
import { Fragment, type Attrs, type MarkType, type Node, type NodeType } from 'prosemirror-model';
import { liftListItem, wrapInList } from 'prosemirror-schema-list';
import {
  NodeSelection,
  Selection,
  TextSelection,
  type Command,
  type EditorState,
  type Transaction,
} from 'prosemirror-state';
import { enclosingNode, hasMark } from './tool';

/** The block of the document in which the selection is. */
export function currentBlock(state: EditorState): { node: Node; pos: number; index: number } | null {
  const { $from } = state.selection;
  const index = $from.index(0);
  const node = state.doc.maybeChild(index);
  if (!node) return null;
  return { node, index, pos: $from.depth === 0 ? $from.pos : $from.before(1) };
}

/** Changes the text blocks of the selection to a type; `attributes` returns the new attributes of each block. */
export function restyle(type: NodeType, attributes: (node: Node) => Attrs): Command {
  return (state, dispatch) => {
    const { tr } = state;
    for (const { $from, $to } of state.selection.ranges)
      tr.setBlockType($from.pos, $to.pos, type, attributes);
    if (!tr.docChanged) return false;
    dispatch?.(tr.scrollIntoView());
    return true;
  };
}

/** Moves the block of the selection up (-1) or down (1). */
export function moveBlock(direction: -1 | 1): Command {
  return (state, dispatch) => {
    const block = currentBlock(state);
    const other = block && state.doc.maybeChild(block.index + direction);
    if (!block || !other) return false;
    if (!dispatch) return true;
    const from = direction < 0 ? block.pos - other.nodeSize : block.pos;
    const pair = direction < 0 ? [block.node, other] : [other, block.node];
    const offset = direction * other.nodeSize;
    const { selection } = state;
    const tr = state.tr.replaceWith(from, from + block.node.nodeSize + other.nodeSize, Fragment.from(pair));
    // A selection may reach beyond the block that is moved.
    const place = (pos: number) => tr.doc.resolve(Math.max(0, Math.min(pos + offset, tr.doc.content.size)));
    const moved =
      selection instanceof TextSelection
        ? TextSelection.between(place(selection.anchor), place(selection.head))
        : NodeSelection.create(tr.doc, block.pos + offset);
    dispatch(tr.setSelection(moved).scrollIntoView());
    return true;
  };
}

/** Removes the block of the selection. */
export const deleteBlock: Command = (state, dispatch) => {
  const block = currentBlock(state);
  if (!block) return false;
  if (!dispatch) return true;
  const tr = state.tr;
  const empty = state.doc.childCount === 1 ? state.schema.nodes.paragraph?.create() : null;
  if (empty) tr.replaceWith(block.pos, block.pos + block.node.nodeSize, empty);
  else tr.delete(block.pos, block.pos + block.node.nodeSize);
  const at = Math.min(block.pos, tr.doc.content.size);
  dispatch(tr.setSelection(Selection.near(tr.doc.resolve(at))).scrollIntoView());
  return true;
};

/** Inserts a block after the block of the selection; an empty paragraph there is replaced. */
export function insertBlock(create: (state: EditorState) => Node | null): Command {
  return (state, dispatch) => {
    const node = create(state);
    const { $from } = state.selection;
    if (!node) return false;
    if (!dispatch) return true;
    const tr = state.tr;
    const block = currentBlock(state);
    let at = block ? block.pos + block.node.nodeSize : 0;
    const blank = block?.node.type.name === 'paragraph' && block.node.content.size === 0 && $from.depth === 1;
    if (blank && block) {
      tr.replaceWith(block.pos, block.pos + block.node.nodeSize, node);
      at = block.pos;
    } else tr.insert(at, node);
    // A block without text is never the last one: a paragraph to write in follows.
    if (node.isAtom && at + node.nodeSize === tr.doc.content.size) {
      const paragraph = state.schema.nodes.paragraph?.create();
      if (paragraph) tr.insert(at + node.nodeSize, paragraph);
    }
    const selection = node.isAtom ? NodeSelection.create(tr.doc, at) : Selection.near(tr.doc.resolve(at + 1));
    dispatch(tr.setSelection(selection).scrollIntoView());
    return true;
  };
}

/**
 * Inserts an image at a position. A paragraph around the position is split, an empty one is replaced; at another
 * block, the image is inserted after the block. A text block always follows the image: it begins after `to`.
 */
export function placeImage(
  state: EditorState,
  node: Node,
  place: number,
): { tr: Transaction; from: number; to: number } {
  const { tr } = state;
  const $place = state.doc.resolve(place);
  const block = $place.depth === 0 ? null : $place.node(1);
  let from = place;
  if (block) {
    const isParagraph = $place.depth === 1 && block.type.name === 'paragraph';
    if (isParagraph && block.content.size === 0) {
      from = $place.before(1);
      tr.delete(from, $place.after(1));
    } else if (isParagraph && $place.parentOffset === 0) from = $place.before(1);
    else if (isParagraph && $place.parentOffset < block.content.size) {
      tr.split(place);
      from = place + 1;
    } else from = $place.after(1);
  }
  tr.insert(from, node);
  const to = from + node.nodeSize;
  const paragraph = state.schema.nodes.paragraph?.create();
  const next = tr.doc.resolve(to).nodeAfter;
  if (paragraph && (!next?.isTextblock || next.type.spec.isolating)) tr.insert(to, paragraph);
  return { tr, from, to };
}

/** Inserts an image at the cursor, and moves the cursor to the line after the image. */
export function insertImage(create: () => Node | null): Command {
  return (state, dispatch) => {
    const node = create();
    if (!node) return false;
    if (!dispatch) return true;
    const { tr, to } = placeImage(state, node, state.selection.to);
    dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(to), 1)).scrollIntoView());
    return true;
  };
}

/** Wraps paragraphs in a list; in a list of another kind changes its kind, in a list of this kind lifts them out. */
export function toggleList(type: NodeType, item: NodeType, lists: NodeType[]): Command {
  return (state, dispatch, view) => {
    const list = enclosingNode(state, ...lists);
    if (!list) return wrapInList(type)(state, dispatch);
    if (list.node.type === type) return liftListItem(item)(state, dispatch, view);
    if (dispatch) dispatch(state.tr.setNodeMarkup(list.pos, type, list.node.attrs));
    return true;
  };
}

/** Switches a mark on or off, whatever its attributes are. */
export function mark(type: MarkType): Command {
  return toggleMark(type, null, { removeWhenPresent: true });
}

/** Removes all marks of the selection. */
export const clearMarks: Command = (state, dispatch) => {
  const { from, to, empty } = state.selection;
  if (empty) return false;
  if (dispatch) dispatch(state.tr.removeMark(from, to));
  return true;
};

/** The link at the selection, with its complete range. */
export function linkAt(state: EditorState): { href: string; from: number; to: number } | null {
  const type = state.schema.marks.link;
  if (!type || !hasMark(state, type)) return null;
  const { $from, from } = state.selection;
  const parent = $from.parent;
  const start = $from.start();
  const mark = type.isInSet($from.marks()) ?? type.isInSet(parent.maybeChild($from.index())?.marks ?? []);
  if (!mark) return null;
  let found: { href: string; from: number; to: number } | null = null;
  let range: { from: number; to: number } | null = null;
  parent.forEach((node, offset) => {
    const at = start + offset;
    if (!mark.isInSet(node.marks)) {
      range = null;
      return;
    }
    range = { from: range?.from ?? at, to: at + node.nodeSize };
    if (range.from <= from && from <= range.to) found = { href: mark.attrs.href, ...range };
  });
  return found;
}

/** Sets the link of the selection, or of the link around it; inserts `text` when nothing is selected. */
export function setLink(href: string, text: string): Command {
  return (state, dispatch) => {
    const type = state.schema.marks.link;
    if (!type) return false;
    const present = linkAt(state);
    const { from, to, empty } = state.selection;
    const tr = state.tr;
    if (present) {
      tr.doc.nodesBetween(present.from, present.to, (node, pos) => {
        const old = type.isInSet(node.marks);
        if (!old) return;
        // Other attributes of the link stay.
        tr.addMark(pos, pos + node.nodeSize, type.create({ ...old.attrs, href }));
      });
    } else if (empty) {
      tr.replaceSelectionWith(state.schema.text(text === '' ? href : text, [type.create({ href })]), false);
      tr.removeStoredMark(type);
    } else tr.addMark(from, to, type.create({ href }));
    dispatch?.(tr.scrollIntoView());
    return true;
  };
}

export const removeLink: Command = (state, dispatch) => {
  const link = linkAt(state);
  const type = state.schema.marks.link;
  if (!link || !type) return false;
  dispatch?.(state.tr.removeMark(link.from, link.to, type));
  return true;
};
