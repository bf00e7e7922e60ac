// Commands of block texts. They keep id and tunes of the block that they change.
import { liftListItem, wrapInList } from 'prosemirror-schema-list';
import { Fragment, Slice, type Node, type NodeType } from 'prosemirror-model';
import { TextSelection, type Command, type EditorState } from 'prosemirror-state';
import { currentBlock, insertBlock, insertImage, restyle } from '../prose/commands';
import { enclosingNode } from '../prose/tool';
import { alignmentOf, blockSchema, newRaw, styleOf, withData, type Raw } from './schema';
import { record } from '../../type/definition';

const { nodes } = blockSchema;

/** Changes the selected blocks to headers of a level, or to paragraphs (null). Their ids and tunes stay. */
export function textStyle(level: number | null): Command {
  return (state, dispatch) => {
    // Each of several selected blocks keeps its own id and tunes.
    const attributes = (node: Node) => {
      const { raw } = node.attrs;
      const { data: _replaced, ...kept } = record(raw);
      if (level === null) return { raw: { ...kept, ...newRaw('paragraph') } };
      if (node.type === nodes.header) return { raw: withData(raw, 'header', { level }) };
      return { raw: { ...kept, ...newRaw('header', { level, anchor: '' }) } };
    };
    return restyle(level === null ? nodes.paragraph : nodes.header, attributes)(state, dispatch);
  };
}

/** The list of the selection; nested lists belong to it. */
function listAt(state: EditorState): { node: Node; pos: number } | null {
  const block = currentBlock(state);
  return block?.node.type === nodes.list ? block : null;
}

export function isList(state: EditorState, style: string): boolean {
  const list = listAt(state);
  return list !== null && styleOf(list.node) === style;
}

export function toggleStyle(style: string): Command {
  return (state, dispatch, view) => {
    const list = listAt(state);
    if (!list) return wrapInList(nodes.list, { raw: newRaw('list', { style }) })(state, dispatch);
    if (styleOf(list.node) === style) return liftListItem(nodes.list_item)(state, dispatch, view);
    dispatch?.(state.tr.setNodeAttribute(list.pos, 'raw', withData(list.node.attrs.raw, 'list', { style })));
    return true;
  };
}

/** Aligns the current block: a quotation has its alignment in `data`, a paragraph or header as a tune. */
export function align(alignment: string): Command {
  return (state, dispatch) => {
    const block = currentBlock(state);
    if (!block || !isAligned(block.node)) return false;
    const { raw } = block.node.attrs;
    let next: Raw;
    if (block.node.type === nodes.quote) {
      if (alignment === 'right') return false;
      next = withData(raw, 'quote', { alignment });
    } else {
      const tunes = record(record(raw).tunes);
      const tune = { ...record(tunes.alignmentTuneTool), alignment };
      next = { ...record(raw), tunes: { ...tunes, alignmentTuneTool: tune } };
    }
    dispatch?.(state.tr.setNodeAttribute(block.pos, 'raw', next));
    return true;
  };
}

function isAligned(node: Node): boolean {
  return node.type === nodes.paragraph || node.type === nodes.header || node.type === nodes.quote;
}

export function isAlignedAs(state: EditorState, alignment: string): boolean {
  const block = currentBlock(state);
  return block !== null && isAligned(block.node) && alignmentOf(block.node.attrs.raw) === alignment;
}

/** Inserts a block of a type with the `data` of a new one. */
export function insertType(type: string, data: Raw): Command {
  const node = nodes[type === 'code' ? 'code_block' : type];
  if (type === 'image') return insertImage(() => nodes.image.create({ raw: newRaw(type, data) }));
  return insertBlock(() => node?.createAndFill({ raw: newRaw(type, data) }) ?? null);
}

export const insertTable: Command = insertBlock(() => {
  const row = (type: NodeType) => {
    const cell = () => type.create(null, nodes.paragraph.create());
    return nodes.table_row.create(null, [cell(), cell(), cell()]);
  };
  const rows = [row(nodes.table_header), row(nodes.table_cell), row(nodes.table_cell)];
  return nodes.table.create({ raw: newRaw('table', { withHeadings: true }) }, rows);
});

/** Enter in a part of a block: to the next part, or to a new paragraph below. */
export const leavePart: Command = (state, dispatch) => {
  const { $from } = state.selection;
  const part = enclosingNode(state, nodes.quote, nodes.warning, nodes.image);
  if (!part) return false;
  const first = part.node.type !== nodes.image && $from.index(1) === 0;
  const tr = state.tr;
  if (first) {
    const next = $from.after() + 1;
    dispatch?.(tr.setSelection(TextSelection.create(tr.doc, next)).scrollIntoView());
    return true;
  }
  const after = part.pos + part.node.nodeSize;
  tr.insert(after, nodes.paragraph.create());
  dispatch?.(tr.setSelection(TextSelection.create(tr.doc, after + 1)).scrollIntoView());
  return true;
};

/** Enter in a cell: a line break. */
export const breakInCell: Command = (state, dispatch) => {
  if (!enclosingNode(state, nodes.table_cell, nodes.table_header)) return false;
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
};

/** A pasted slice with paragraphs instead of blocks that may not be inserted. */
export function onlyAllowed(slice: Slice, allowed: (type: string) => boolean): Slice {
  let replaced = false;
  const blocks: Node[] = [];
  slice.content.forEach((node) => {
    const type = node.type === nodes.code_block ? 'code' : node.type.name;
    if (
      !node.isBlock ||
      type === 'paragraph' ||
      type.startsWith('table_') ||
      type === 'list_item' ||
      allowed(type)
    ) {
      blocks.push(node);
      return;
    }
    replaced = true;
    node.nodesBetween(0, node.content.size, (inner) => {
      if (inner.isTextblock) blocks.push(nodes.paragraph.create(null, inner.content));
      return !inner.isTextblock;
    });
    if (node.isTextblock) blocks.push(nodes.paragraph.create(null, node.content));
  });
  return replaced ? new Slice(Fragment.from(blocks), 0, 0) : slice;
}
