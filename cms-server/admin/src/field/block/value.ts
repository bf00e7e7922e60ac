// Block texts: the stored value into a document and back. Blocks that were not edited are written as
// they were stored; a block that the document cannot hold exactly is an opaque node.
import type { Node } from 'prosemirror-model';
import { parseHtml } from '../../text/html';
import { isEqual } from '../../value/equal';
import { serverNow } from '../../value/clock';
import { isRecord } from '../../value/record';
import { inlineNodes, runsOf, writeInline } from '../prose/inline';
import { haveSameShape } from '../prose/html-shape';
import { memoizeByNode } from '../prose/memoize-by-node';
import { blockSchema as schema, dataOf, withData, type Raw } from './schema';

const EDITOR_JS_VERSION = '2.22.2';

/** A value that an editor of blocks can show. */
export interface BlockValue extends Raw {
  blocks: unknown[];
}

export function isBlockValue(value: unknown): value is BlockValue {
  return isRecord(value) && Array.isArray(value.blocks);
}

/** The document of a value; absent and empty values have one empty paragraph. */
export function readBlocks(blocks: readonly unknown[]): Node {
  const nodes = blocks.map(blockNode);
  return schema.node('doc', null, nodes.length > 0 ? nodes : [schema.node('paragraph')]);
}

function blockNode(raw: unknown): Node {
  const node = isRecord(raw) ? knownNode(raw) : null;
  const written = node && writeBlock(node);
  return node && written && meansTheSame(raw, written) ? node : schema.node('opaque', { raw });
}

/** Equal, except for how the HTML in texts is written. */
function meansTheSame(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b || haveSameShape(a, b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => meansTheSame(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return isEqual(a, b);
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => meansTheSame(a[name], b[name]));
}

/** Inline nodes of an HTML text; null when it has blocks, or is no text. */
function inline(html: unknown): Node[] | null {
  if (typeof html !== 'string') return null;
  const runs = runsOf(parseHtml(html).body.childNodes);
  return runs && inlineNodes(schema, runs);
}

function knownNode(raw: Raw): Node | null {
  const data = dataOf(raw);
  switch (raw.type) {
    case 'paragraph':
    case 'header':
      return textNode(raw.type, raw, data.text);
    case 'image':
      return textNode('image', raw, data.caption ?? '');
    case 'quote':
      return pairNode('quote', raw, data.text, data.caption);
    case 'warning':
      return pairNode('warning', raw, data.title, data.message);
    case 'list':
      return listNode(data.items, raw);
    case 'code':
      if (typeof data.code !== 'string') return null;
      return schema.node('code_block', { raw }, data.code === '' ? [] : [schema.text(data.code)]);
    case 'table':
      return tableNode(raw, data);
    case 'delimiter':
    case 'youtubeEmbed':
      return schema.node(raw.type, { raw });
    default:
      return null;
  }
}

function textNode(type: string, raw: Raw | null, html: unknown): Node | null {
  const content = inline(html);
  return content && schema.node(type, { raw }, content);
}

const paragraph = (html: unknown) => textNode('paragraph', null, html ?? '');

function pairNode(type: string, raw: Raw, first: unknown, second: unknown): Node | null {
  const [a, b] = [paragraph(first), paragraph(second)];
  return a && b && schema.node(type, { raw }, [a, b]);
}

/** Items are `{content, items}`, or plain texts in older values. */
function listNode(items: unknown, raw: Raw | null): Node | null {
  if (!Array.isArray(items) || items.length === 0) return null;
  const nodes: Node[] = [];
  for (const item of items) {
    const nested: unknown = isRecord(item) ? item.items : undefined;
    const text = paragraph(isRecord(item) ? item.content : item);
    const inner = Array.isArray(nested) && nested.length > 0 ? listNode(nested, null) : undefined;
    if (!text || inner === null) return null;
    nodes.push(schema.node('list_item', { raw: item }, inner ? [text, inner] : [text]));
  }
  return schema.node('list', { raw }, nodes);
}

function tableNode(raw: Raw, data: Raw): Node | null {
  const { content, withHeadings } = data;
  if (!Array.isArray(content) || content.length === 0) return null;
  const rows: Node[] = [];
  for (const row of content) {
    if (!Array.isArray(row) || row.length === 0 || row.length !== content[0].length) return null;
    const type = withHeadings === true && rows.length === 0 ? 'table_header' : 'table_cell';
    const cells = row.map((html) => {
      const text = paragraph(html);
      return text && schema.node(type, null, text);
    });
    const complete = cells.filter((cell) => cell !== null);
    if (complete.length !== row.length) return null;
    rows.push(schema.node('table_row', null, complete));
  }
  return schema.node('table', { raw }, rows);
}

/** The block of a node: the stored block with the text of the document. */
export function writeBlock(node: Node): unknown {
  const { raw } = node.attrs;
  switch (node.type.name) {
    case 'paragraph':
    case 'header':
      return withData(raw, node.type.name, { text: writeInline(node) });
    case 'image':
      return withData(raw, 'image', optional(raw, 'caption', writeInline(node)));
    case 'quote':
      return withData(raw, 'quote', { text: part(node, 0), ...optional(raw, 'caption', part(node, 1)) });
    case 'warning':
      return withData(raw, 'warning', { ...optional(raw, 'title', part(node, 0)), message: part(node, 1) });
    case 'list':
      return withData(raw, 'list', { items: writeItems(node) });
    case 'code_block':
      return withData(raw, 'code', { code: node.textContent });
    case 'table':
      return withData(raw, 'table', tableData(node));
    default:
      return raw;
  }
}

/** A text that the stored block does not have stays absent while it is empty. */
function optional(raw: unknown, name: string, text: string): Raw {
  return text === '' && isRecord(raw) && !(name in dataOf(raw)) && typeof raw.id === 'string'
    ? {}
    : { [name]: text };
}

function part(node: Node, index: number): string {
  return writeInline(node.child(index));
}

function writeItems(list: Node): unknown[] {
  const items: unknown[] = [];
  list.forEach((item) => {
    const { raw } = item.attrs;
    const content = part(item, 0);
    const nested = item.childCount > 1 ? writeItems(item.child(1)) : [];
    if (typeof raw === 'string' && nested.length === 0) items.push(content);
    else {
      const old = isRecord(raw) ? raw : { content, items: nested };
      const keepsNone = !('items' in old) && nested.length === 0;
      items.push({ ...old, content, ...(keepsNone ? {} : { items: nested }) });
    }
  });
  return items;
}

function tableData(table: Node): Raw {
  const content: string[][] = [];
  table.forEach((row) => {
    const cells: string[] = [];
    row.forEach((cell) => cells.push(part(cell, 0)));
    content.push(cells);
  });
  const first = table.firstChild;
  let headings = first !== null && first.childCount > 0;
  first?.forEach((cell) => {
    headings &&= cell.type.name === 'table_header';
  });
  const old = dataOf(table.attrs.raw).withHeadings;
  return { content, ...(headings || old !== undefined ? { withHeadings: headings } : {}) };
}

/** A stored value with its document. */
export class BlockText {
  readonly original: Node;
  /** Stored blocks, by the JSON that the page would write for them. */
  private readonly known = new Map<string, unknown>();
  private readonly key = memoizeByNode((node) => JSON.stringify(writeBlock(node)) ?? '');

  constructor(private readonly value: BlockValue | undefined) {
    const blocks = value?.blocks ?? [];
    this.original = readBlocks(blocks);
    blocks.forEach((block, index) => this.known.set(this.key(this.original.child(index)), block));
  }

  /** The value of a document; the stored one while nothing was edited. */
  valueOf(doc: Node, now = serverNow()): BlockValue | undefined {
    if (doc.eq(this.original)) return this.value;
    const blocks: unknown[] = [];
    doc.forEach((node) => {
      const key = this.key(node);
      if (this.known.has(key)) blocks.push(this.known.get(key));
      // A new paragraph is no block while it is empty.
      else if (node.type.name !== 'paragraph' || node.content.size > 0) blocks.push(writeBlock(node));
    });
    if (blocks.length === 0 && this.value === undefined) return undefined;
    const time = typeof this.value?.time === 'string' ? String(now) : now;
    return { version: EDITOR_JS_VERSION, ...this.value, time, blocks };
  }
}
