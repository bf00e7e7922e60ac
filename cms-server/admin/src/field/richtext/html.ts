// Rich text: HTML into a document and back. Blocks that were not edited are written as they were read.
import type { Node } from 'prosemirror-model';
import { TableMap } from 'prosemirror-tables';
import { parseHtml, sourceOf } from '../../text/html';
import { attribute, pairsOf, writePairs, type Pairs } from '../prose/attributes';
import { spanOf } from '../prose/block-specs';
import { groups, inlineNodes, isElement, runsOf, writeImage, writeInline, type Run } from '../prose/inline';
import { richTextSchema as schema } from './schema';

/** Reads a text. Never fails: what the schema does not know becomes an opaque node. */
export function readHtml(html: string): Node {
  // A text that begins here has a complete paragraph, unlike a stored line without one.
  if (html.trim() === '') return schema.node('doc', null, [schema.node('paragraph')]);
  return schema.node('doc', null, blocksOf(parseHtml(html).body));
}

/** Blocks of an element; at least one. */
function blocksOf(parent: ParentNode): Node[] {
  const blocks = [...groups(parent)].flatMap((group) =>
    Array.isArray(group) ? lineBlocks(group) : [block(group)],
  );
  return blocks.length > 0 ? blocks : [schema.node('paragraph', { form: 'bare' })];
}

/** A line without an element of its own. Unknown elements that stand alone are opaque blocks. */
function lineBlocks(nodes: globalThis.Node[]): Node[] {
  const runs = runsOf(nodes) ?? [];
  if (runs.length > 0 && runs.every(isWidget)) {
    return runs.flatMap((run) => (run.atom ? [opaque(run.atom)] : []));
  }
  return [schema.node('paragraph', { form: 'bare' }, inlineNodes(schema, runs))];
}

function isWidget({ atom, marks }: Run): boolean {
  return atom !== null && marks.length === 0 && !['IMG', 'BR'].includes(atom.nodeName);
}

function opaque(node: globalThis.Node): Node {
  return schema.node('opaque', { html: sourceOf(node) });
}

function block(element: Element): Node {
  return knownBlock(element) ?? opaque(element);
}

/** The node of an element, or null when it does not fit the schema. */
function knownBlock(element: Element): Node | null {
  const tag = element.localName;
  const attrs = pairsOf(element);
  if (/^h[1-6]$/.test(tag)) return line('heading', { level: Number(tag[1]), attrs }, element);
  switch (tag) {
    case 'p':
      return line('paragraph', { form: 'p', attrs }, element);
    case 'ul':
    case 'ol':
      return listNode(tag === 'ul' ? 'bullet_list' : 'ordered_list', element);
    case 'blockquote':
      return schema.node('blockquote', { attrs }, blocksOf(element));
    case 'pre':
      return codeNode(element);
    case 'figure':
      return figureNode(element);
    case 'hr':
      return schema.node('horizontal_rule', { attrs });
    case 'table':
      return tableNode(element);
    default:
      return null;
  }
}

function line(name: string, attrs: Record<string, unknown>, element: Element): Node | null {
  const runs = runsOf(element.childNodes);
  return runs && schema.node(name, attrs, inlineNodes(schema, runs));
}

function listNode(name: string, element: Element): Node | null {
  const items: Node[] = [];
  for (const group of groups(element)) {
    if (Array.isArray(group) || group.localName !== 'li') return null;
    items.push(schema.node('list_item', { attrs: pairsOf(group) }, blocksOf(group)));
  }
  return items.length === 0 ? null : schema.node(name, { attrs: pairsOf(element) }, items);
}

function codeNode(element: Element): Node | null {
  const [first, ...others] = element.childNodes;
  const inner = first && isElement(first) && first.localName === 'code' && others.length === 0 ? first : null;
  const holder = inner ?? element;
  if (holder.firstElementChild !== null || [...holder.childNodes].some((node) => node.nodeType !== 3))
    return null;
  const text = holder.textContent;
  const attrs = { code: inner && pairsOf(inner), attrs: pairsOf(element) };
  return schema.node('code_block', attrs, text ? schema.text(text) : []);
}

function figureNode(element: Element): Node | null {
  const [image, caption, ...others] = element.children;
  const loose = [...element.childNodes].some(
    (node) => node.nodeType !== 1 && node.textContent?.trim() !== '',
  );
  if (!image || image.localName !== 'img' || !image.hasAttribute('src') || loose || others.length > 0)
    return null;
  if (caption && caption.localName !== 'figcaption') return null;
  const attrs = {
    src: image.getAttribute('src'),
    alt: image.getAttribute('alt'),
    image: pairsOf(image, 'src', 'alt'),
    caption: caption ? pairsOf(caption) : null,
    attrs: pairsOf(element),
  };
  return caption ? line('figure', attrs, caption) : schema.node('figure', attrs);
}

const TABLE_SECTIONS = ['thead', 'tbody', 'tfoot'];

function tableNode(element: Element): Node | null {
  let before = '';
  const rows: Node[] = [];
  for (const group of groups(element)) {
    if (Array.isArray(group)) return null;
    const tag = group.localName;
    if ((tag === 'caption' || tag === 'colgroup') && rows.length === 0) before += sourceOf(group);
    else if (!TABLE_SECTIONS.includes(tag) || group.attributes.length > 0) return null;
    // Two neighbouring sections of one kind would become one.
    else if (rows.at(-1)?.attrs.section === tag || !addRows(group, rows)) return null;
  }
  if (rows.length === 0) return null;
  const table = schema.node('table', { before, attrs: pairsOf(element) }, rows);
  // The editor would repair an irregular table on the first edit.
  return TableMap.get(table).problems ? null : table;
}

function addRows(section: Element, rows: Node[]): boolean {
  for (const row of groups(section)) {
    if (Array.isArray(row) || row.localName !== 'tr') return false;
    const cells: Node[] = [];
    for (const cell of groups(row)) {
      if (Array.isArray(cell) || !['td', 'th'].includes(cell.localName)) return false;
      const attrs = {
        colspan: spanOf(cell, 'colspan'),
        rowspan: spanOf(cell, 'rowspan'),
        attrs: pairsOf(cell, 'colspan', 'rowspan'),
      };
      cells.push(schema.node(cell.localName === 'td' ? 'table_cell' : 'table_header', attrs, blocksOf(cell)));
    }
    rows.push(schema.node('table_row', { section: section.localName, attrs: pairsOf(row) }, cells));
  }
  return true;
}

/** HTML of blocks. */
export function writeBlocks(parent: Node): string {
  // A text in which nothing was typed.
  const only = parent.childCount === 1 ? parent.firstChild : null;
  const isNew = only?.type.name === 'paragraph' && only.attrs.form === 'auto' && only.childCount === 0;
  if (isNew && parent.type.name === 'doc') return '';
  let html = '';
  let bareBefore = false;
  parent.forEach((node) => {
    const bare = node.type.name === 'paragraph' && !bareBefore && isBare(node, parent);
    html += bare ? writeInline(node) : writeBlock(node);
    bareBefore = bare;
  });
  return html;
}

function isBare(node: Node, parent: Node): boolean {
  if (node.attrs.form !== 'auto') return node.attrs.form === 'bare';
  const { name } = parent.type;
  if (name !== 'list_item' && name !== 'table_cell' && name !== 'table_header') return false;
  let paragraphs = 0;
  parent.forEach((sibling) => (paragraphs += sibling.type.name === 'paragraph' ? 1 : 0));
  return paragraphs === 1;
}

function element(tag: string, attrs: Pairs, inner: string): string {
  return `<${tag}${writePairs(attrs)}>${inner}</${tag}>`;
}

/** Elements of the nodes that hold blocks. */
const CONTAINER_TAGS: Record<string, string> = {
  bullet_list: 'ul',
  ordered_list: 'ol',
  list_item: 'li',
  blockquote: 'blockquote',
};

/** HTML of one block, with its element. */
export function writeBlock(node: Node): string {
  const { attrs } = node.attrs;
  const container = CONTAINER_TAGS[node.type.name];
  if (container) return element(container, attrs, writeBlocks(node));
  switch (node.type.name) {
    case 'paragraph':
      return element('p', attrs, writeInline(node));
    case 'heading':
      return element(`h${String(node.attrs.level)}`, attrs, writeInline(node));
    case 'code_block':
      return writeCode(node);
    case 'figure':
      return writeFigure(node);
    case 'horizontal_rule':
      return `<hr${writePairs(attrs)}>`;
    case 'table':
      return element('table', attrs, node.attrs.before + writeRows(node));
    default:
      return node.attrs.html;
  }
}

function writeCode(node: Node): string {
  const code: Pairs | null = node.attrs.code;
  const text = writeInline(node);
  // A parser drops a line break that follows <pre>.
  const inner = code ? element('code', code, text) : text.startsWith('\n') ? `\n${text}` : text;
  return element('pre', node.attrs.attrs, inner);
}

function writeFigure(node: Node): string {
  const { src, alt, image, caption, attrs } = node.attrs;
  const text = writeInline(node);
  const below = caption === null && text === '' ? '' : element('figcaption', caption ?? [], text);
  return element('figure', attrs, writeImage(src, alt, image) + below);
}

function writeRows(table: Node): string {
  let html = '';
  let open = '';
  table.forEach((row) => {
    const section: string = row.attrs.section;
    if (section !== open) html += `${open === '' ? '' : `</${open}>`}<${section}>`;
    open = section;
    let cells = '';
    row.forEach((cell) => (cells += writeCell(cell)));
    html += element('tr', row.attrs.attrs, cells);
  });
  return `${html}</${open}>`;
}

function writeCell(cell: Node): string {
  const { colspan, rowspan, attrs } = cell.attrs;
  const tag = cell.type.name === 'table_header' ? 'th' : 'td';
  const columns = attribute('colspan', colspan === 1 ? null : String(colspan));
  const rows = attribute('rowspan', rowspan === 1 ? null : String(rowspan));
  return `<${tag}${columns}${rows}${writePairs(attrs)}>${writeBlocks(cell)}</${tag}>`;
}
