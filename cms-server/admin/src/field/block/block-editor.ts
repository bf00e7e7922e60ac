// The tools and insertions of the editor for block texts, as far as the property allows them.
import Heading from '@lucide/svelte/icons/heading';
import ImageIcon from '@lucide/svelte/icons/image';
import List from '@lucide/svelte/icons/list';
import ListOrdered from '@lucide/svelte/icons/list-ordered';
import Minus from '@lucide/svelte/icons/minus';
import SquareCode from '@lucide/svelte/icons/square-code';
import SquarePlay from '@lucide/svelte/icons/square-play';
import Table from '@lucide/svelte/icons/table';
import TextAlignCenter from '@lucide/svelte/icons/text-align-center';
import TextAlignEnd from '@lucide/svelte/icons/text-align-end';
import TextAlignStart from '@lucide/svelte/icons/text-align-start';
import TextQuote from '@lucide/svelte/icons/text-quote';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import { InputRule, inputRules, wrappingInputRule } from 'prosemirror-inputrules';
import type { Node } from 'prosemirror-model';
import { splitListItem } from 'prosemirror-schema-list';
import { Plugin, type Command, type EditorState } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';
import { cacheSummary } from '../../object/summary-cache.svelte';
import { t } from '../../text';
import type { Summary } from '../../object/summary';
import { imagePath } from '../../value/media';
import { HintCollector, type Hint } from '../prose/accessibility-hints';
import { blockTools, editTool, insertTool, itemTools, markTools, tableTools } from '../prose/mark-tools';
import type { EditorConfig } from '../prose/editor-config';
import { selectImages } from '../prose/select-images';
import { enclosingNode, type Style, type Tool } from '../prose/tool';
import {
  align,
  breakInCell,
  insertTable,
  insertType,
  isAlignedAs,
  isList,
  leavePart,
  onlyAllowed,
  textStyle,
  toggleStyle,
} from './commands';
import { blockIds } from './ids';
import { normalizePastedHtml } from './paste-html';
import { blockSchema as schema, imageData, levelOf, newRaw, textData, withData } from './schema';

const { nodes } = schema;

/** A block whose address is edited in a dialog; `pos` is null for a new one. */
export interface UrlDialogTarget {
  type: 'image' | 'youtubeEmbed';
  url: string;
  pos: number | null;
}

function urlAt(state: EditorState): UrlDialogTarget | null {
  const found = enclosingNode(state, nodes.image, nodes.youtubeEmbed);
  if (!found) return null;
  const type = found.node.type === nodes.image ? 'image' : 'youtubeEmbed';
  return { type, url: textData(found.node.attrs.raw, 'url'), pos: found.pos };
}

/** `data` of the block for a file of the media library; null if the file is no image. */
function fileData(summary: Summary): ReturnType<typeof imageData> | null {
  const { image, file } = summary;
  cacheSummary(summary);
  if (!image) return null;
  const { width = 0, height = 0, fileName = '', extension = image.extension } = file ?? {};
  return { ...imageData(imagePath(image)), width, height, fileName, extension };
}

export function setUrl({ type, pos }: UrlDialogTarget, url: string, file: Summary | null): Command {
  return (state, dispatch, view) => {
    const node = pos === null ? null : state.doc.nodeAt(pos);
    // Size and name belong to the address: they stay while the address stays.
    if (node && url === textData(node.attrs.raw, 'url')) return true;
    const image = type === 'image' ? ((file && fileData(file)) ?? imageData(url)) : null;
    if (pos === null || !node) return insertType(type, image ?? { url })(state, dispatch, view);
    const { width = 0, height = 0, fileName = '', extension = '' } = image ?? {};
    const data = image ? { url, width, height, fileName, extension } : { url };
    dispatch?.(state.tr.setNodeAttribute(pos, 'raw', withData(node.attrs.raw, type, data)));
    return true;
  };
}

function styles(headers: boolean): Style[] {
  const plain: Style = {
    value: 'p',
    label: t.texts.paragraph,
    command: textStyle(null),
    active: (state) => state.selection.$from.parent.type === nodes.paragraph,
  };
  const levels = headers ? [1, 2, 3, 4, 5, 6] : [];
  const headings = levels.map((level): Style => ({
    value: `h${String(level)}`,
    label: t.texts.heading(level),
    command: textStyle(level),
    active: ({ selection: { $from } }) =>
      $from.parent.type === nodes.header && levelOf($from.parent) === level,
  }));
  return [plain, ...headings];
}

function alignTools(): Tool[] {
  const tool = (id: string, label: string, icon: Tool['icon']): Tool => ({
    id: `align-${id}`,
    label,
    icon,
    command: align(id),
    active: (state) => isAlignedAs(state, id),
  });
  return [
    tool('left', t.texts.alignStart, TextAlignStart),
    tool('center', t.texts.alignCenter, TextAlignCenter),
    tool('right', t.texts.alignEnd, TextAlignEnd),
  ];
}

function hints(doc: Node): Hint[] {
  const found = new HintCollector();
  doc.descendants((node, pos) => {
    if (node.type === nodes.header) found.heading(pos + 1, levelOf(node), node.textContent);
    else if (node.type === nodes.table) found.table(node, pos);
    if (node.isTextblock) found.links(node, pos + 1);
  });
  return found.hints;
}

/** `types` limits the blocks that can be inserted (empty: all); stored blocks are always shown. */
export function blockEditorConfig(
  types: string[],
  editUrl: (view: EditorView, target: UrlDialogTarget) => void,
): EditorConfig {
  const texts = t.texts;
  const allowed = (type: string) => types.length === 0 || types.includes(type);
  const [main = [], more = []] = markTools(schema);
  const ask = (type: UrlDialogTarget['type']) => (view: EditorView) =>
    editUrl(view, { type, url: '', pos: null });
  const listTool = (style: string, label: string, icon: Tool['icon']): Tool => ({
    id: style,
    label,
    icon,
    command: toggleStyle(style),
    active: (state) => isList(state, style),
  });
  const lists = allowed('list')
    ? [listTool('unordered', texts.bulletList, List), listTool('ordered', texts.orderedList, ListOrdered)]
    : [];
  const offered: (Tool & { type: string })[] = [
    ...styles(true)
      .slice(2, 5)
      .map(({ value, label, command }) => ({ type: 'header', id: value, label, icon: Heading, command })),
    ...lists.map((tool) => ({ type: 'list', ...tool })),
    { type: 'image', icon: ImageIcon, open: ask('image') },
    {
      type: 'quote',
      icon: TextQuote,
      command: insertType('quote', { text: '', caption: '', alignment: 'left' }),
    },
    { type: 'warning', icon: TriangleAlert, command: insertType('warning', { title: '', message: '' }) },
    { type: 'delimiter', icon: Minus, command: insertType('delimiter', {}) },
    { type: 'code', icon: SquareCode, command: insertType('code', { code: '' }) },
    { type: 'table', icon: Table, command: insertTable },
    { type: 'youtubeEmbed', icon: SquarePlay, open: ask('youtubeEmbed') },
  ].map((each) => ({ id: each.type, label: nameOf(each.type), command: () => true, ...each }));

  const rules = [
    ...(allowed('header') ? [headerRule] : []),
    ...(allowed('list')
      ? [
          wrappingInputRule(/^\s*[-*]\s$/, nodes.list, { raw: newRaw('list', { style: 'unordered' }) }),
          wrappingInputRule(/^1\.\s$/, nodes.list, { raw: newRaw('list', { style: 'ordered' }) }),
        ]
      : []),
  ];
  return {
    name: 'block',
    listItem: nodes.list_item,
    hardBreak: nodes.hard_break,
    tools: {
      styles: styles(allowed('header')),
      groups: [[insertTool()], main, lists, alignTools(), more, ...blockTools()].filter(
        (group) => group.length > 0,
      ),
      context: (state) => {
        if (enclosingNode(state, nodes.table)) return { label: texts.table, tools: tableTools(false) };
        const url = urlAt(state);
        if (url)
          return { label: texts.block[url.type], tools: [editTool(texts.editAddress, urlAt, editUrl)] };
        if (enclosingNode(state, nodes.list))
          return { label: texts.block.list, tools: itemTools(nodes.list_item) };
        return null;
      },
    },
    enter: [leavePart, breakInCell, splitListItem(nodes.list_item)],
    plugins: [
      inputRules({ rules }),
      blockIds,
      new Plugin({
        props: {
          transformPastedHTML: (html) => normalizePastedHtml(html, allowed),
          transformPasted: (slice) => onlyAllowed(slice, allowed),
        },
      }),
      selectImages(nodes.image),
    ],
    hints,
    takesImages: allowed('image'),
    imageNode: (file) => {
      const data = fileData(file);
      return data ? nodes.image.create({ raw: newRaw('image', data) }) : null;
    },
    insertions: offered.filter(({ type }) => allowed(type)),
  };
}

function nameOf(type: string): string {
  const names: Record<string, string> = t.texts.block;
  return names[type] ?? type;
}

const headerRule = new InputRule(/^(#{1,6})\s$/, (state, match, start, end) => {
  const $at = state.doc.resolve(start);
  if ($at.depth !== 1) return null;
  const tr = state.tr.delete(start, end);
  const raw = newRaw('header', { level: match[1]?.length ?? 2, anchor: '' });
  return tr.setBlockType(start, start, nodes.header, { raw });
});
