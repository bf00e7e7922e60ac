// What the editor offers for rich texts: styles, tools, keys and hints.
import Heading from '@lucide/svelte/icons/heading';
import ImageIcon from '@lucide/svelte/icons/image';
import List from '@lucide/svelte/icons/list';
import ListOrdered from '@lucide/svelte/icons/list-ordered';
import Minus from '@lucide/svelte/icons/minus';
import SquareCode from '@lucide/svelte/icons/square-code';
import Table from '@lucide/svelte/icons/table';
import TextQuote from '@lucide/svelte/icons/text-quote';
import { lift, setBlockType, wrapIn } from 'prosemirror-commands';
import { inputRules, textblockTypeInputRule, wrappingInputRule } from 'prosemirror-inputrules';
import type { Node } from 'prosemirror-model';
import { splitListItem } from 'prosemirror-schema-list';
import type { Command, EditorState } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';
import { t } from '../../text';
import { imagePath } from '../../value/media';
import { insertBlock, insertImage, restyle, toggleList } from '../prose/commands';
import { HintCollector, type Hint } from '../prose/accessibility-hints';
import { blockTools, editTool, insertTool, itemTools, markTools, tableTools } from '../prose/mark-tools';
import type { EditorConfig } from '../prose/editor-config';
import { selectImages } from '../prose/select-images';
import { enclosingNode, type Style, type Tool } from '../prose/tool';
import { richTextSchema as schema } from './schema';

const { nodes } = schema;

/** An image that is edited in a dialog; `pos` is null for a new one. */
export interface ImageTarget {
  src: string;
  alt: string;
  pos: number | null;
}

/** The image at the selection. */
function imageAt(state: EditorState): ImageTarget | null {
  const found = enclosingNode(state, nodes.figure, nodes.image);
  return found && { src: found.node.attrs.src, alt: found.node.attrs.alt ?? '', pos: found.pos };
}

/** Changes an image, or inserts a new one as a figure. */
export function setImage(target: ImageTarget, src: string, alt: string): Command {
  return (state, dispatch, view) => {
    const { pos } = target;
    const node = pos === null ? null : state.doc.nodeAt(pos);
    if (pos === null || !node)
      return insertImage(() => nodes.figure.create({ src, alt }))(state, dispatch, view);
    // An absent alternative text stays absent while it is empty.
    const kept = alt === '' && node.attrs.alt === null ? null : alt;
    if (dispatch) dispatch(state.tr.setNodeMarkup(pos, null, { ...node.attrs, src, alt: kept }));
    return true;
  };
}

function styles(): Style[] {
  const plain: Style = {
    value: 'p',
    label: t.texts.paragraph,
    command: setBlockType(nodes.paragraph),
    active: (state) => state.selection.$from.parent.type === nodes.paragraph,
  };
  const headings = [1, 2, 3, 4, 5, 6].map((level): Style => ({
    value: `h${String(level)}`,
    label: t.texts.heading(level),
    command: restyle(nodes.heading, (node) =>
      node.type === nodes.heading ? { ...node.attrs, level } : { level },
    ),
    active: ({ selection: { $from } }) =>
      $from.parent.type === nodes.heading && $from.parent.attrs.level === level,
  }));
  const code: Style = {
    value: 'pre',
    label: t.texts.codeBlock,
    command: setBlockType(nodes.code_block),
    active: (state) => state.selection.$from.parent.type === nodes.code_block,
  };
  return [plain, ...headings, code];
}

function newTable(): Node {
  const cell = () => nodes.table_cell.create(null, nodes.paragraph.create());
  const header = () => nodes.table_header.create(null, nodes.paragraph.create());
  const row = (make: () => Node, section: string) =>
    nodes.table_row.create({ section }, [make(), make(), make()]);
  return nodes.table.create(null, [row(header, 'thead'), row(cell, 'tbody'), row(cell, 'tbody')]);
}

const toggleQuote: Command = (state, dispatch) =>
  enclosingNode(state, nodes.blockquote) ? lift(state, dispatch) : wrapIn(nodes.blockquote)(state, dispatch);

function listTools(): Tool[] {
  const lists = [nodes.bullet_list, nodes.ordered_list];
  const tool = (type: (typeof lists)[number], id: string, label: string, icon: Tool['icon']): Tool => ({
    id,
    label,
    icon,
    command: toggleList(type, nodes.list_item, lists),
    active: (state) => enclosingNode(state, ...lists)?.node.type === type,
  });
  return [
    tool(nodes.bullet_list, 'ul', t.texts.bulletList, List),
    tool(nodes.ordered_list, 'ol', t.texts.orderedList, ListOrdered),
    {
      id: 'quote',
      label: t.texts.quote,
      icon: TextQuote,
      command: toggleQuote,
      active: (state) => enclosingNode(state, nodes.blockquote) !== null,
    },
  ];
}

function hints(doc: Node): Hint[] {
  const found = new HintCollector();
  doc.descendants((node, pos) => {
    const { name } = node.type;
    if (name === 'heading') found.heading(pos + 1, node.attrs.level, node.textContent);
    else if (name === 'figure' || name === 'image') found.image(pos, node.attrs.src, node.attrs.alt);
    else if (name === 'table') found.table(node, pos);
    if (node.isTextblock) found.links(node, pos + 1);
  });
  return found.hints;
}

const rules = inputRules({
  rules: [
    textblockTypeInputRule(/^(#{1,6})\s$/, nodes.heading, (match) => ({ level: match[1]?.length ?? 2 })),
    textblockTypeInputRule(/^```$/, nodes.code_block),
    wrappingInputRule(/^\s*[-*]\s$/, nodes.bullet_list),
    wrappingInputRule(/^1\.\s$/, nodes.ordered_list),
    wrappingInputRule(/^>\s$/, nodes.blockquote),
  ],
});

/** `editImage` opens the dialog for an image. */
export function richTextEditorConfig(
  editImage: (view: EditorView, target: ImageTarget) => void,
): EditorConfig {
  const texts = t.texts;
  const [main = [], more = []] = markTools(schema);
  const image: Tool = {
    id: 'image',
    label: texts.image,
    icon: ImageIcon,
    open: (view) => editImage(view, { src: '', alt: '', pos: null }),
    command: () => true,
  };
  const table: Tool = { id: 'table', label: texts.table, icon: Table, command: insertBlock(newTable) };
  const rule: Tool = {
    id: 'rule',
    label: texts.rule,
    icon: Minus,
    command: insertBlock(() => nodes.horizontal_rule.create()),
  };
  const code: Tool = {
    id: 'code-block',
    label: texts.codeBlock,
    icon: SquareCode,
    command: insertBlock(() => nodes.code_block.create()),
  };
  const insertions = [
    ...styles()
      .slice(1, 5)
      .map(({ value, label, command }) => ({ id: value, label, command, icon: Heading })),
    ...listTools(),
    code,
    table,
    rule,
    image,
  ];
  return {
    name: 'richtext',
    listItem: nodes.list_item,
    hardBreak: nodes.hard_break,
    tools: {
      styles: styles(),
      groups: [[insertTool()], main, listTools(), [image, table, rule], more, ...blockTools()],
      context: (state) => {
        if (enclosingNode(state, nodes.table)) return { label: texts.table, tools: tableTools(true) };
        if (imageAt(state))
          return { label: texts.image, tools: [editTool(texts.editImage, imageAt, editImage)] };
        if (enclosingNode(state, nodes.list_item))
          return { label: texts.block.list, tools: itemTools(nodes.list_item) };
        return null;
      },
    },
    enter: [splitListItem(nodes.list_item)],
    plugins: [rules, selectImages(nodes.figure)],
    hints,
    insertions,
    takesImages: true,
    imageNode: ({ image, file }) =>
      image && nodes.figure.create({ src: imagePath(image), alt: file?.alt ?? '' }),
  };
}
