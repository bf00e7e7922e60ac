// The HTML of each block of a stored text, so that an edit of one block leaves all others as they are.
import type { Node } from 'prosemirror-model';
import { nextTag } from '../../text/tags';
import { memoizeByNode } from '../prose/memoize-by-node';
import { readHtml, writeBlock, writeBlocks } from './html';

const VOID_ELEMENTS = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const RAW_TEXT_ELEMENTS = new Set(
  'script style textarea title xmp iframe noembed noframes noscript plaintext'.split(' '),
);

/**
 * Splits HTML into its top-level elements, each with the white space after it; white space at the start is a part of
 * its own. Returns null if there is text outside of the elements, or if tags do not match.
 */
function splitBlocks(html: string): string[] | null {
  const parts: string[] = [];
  const open: string[] = [];
  let from = 0;
  let end = 0;
  const lower = html.toLowerCase();
  for (let tag = nextTag(html, 0); tag; tag = nextTag(html, end)) {
    const { name } = tag;
    if (open.length === 0) {
      if (html.slice(end, tag.from).trim() !== '') return null;
      if (parts.length > 0 || end > 0) parts.push(html.slice(from, tag.from));
      else if (tag.from > 0) parts.push(html.slice(0, tag.from));
      from = tag.from;
    }
    end = tag.end;
    if (name === null || VOID_ELEMENTS.has(name)) continue;
    if (tag.closing) {
      if (open.pop() !== name) return null;
    } else if (RAW_TEXT_ELEMENTS.has(name)) {
      const close = lower.indexOf(`</${name}`, end);
      const after = close < 0 ? -1 : html.indexOf('>', close);
      if (after < 0) return null;
      end = after + 1;
    } else open.push(name);
  }
  if (open.length > 0 || html.slice(end).trim() !== '' || end === 0) return null;
  parts.push(html.slice(from));
  return parts;
}

export class Sources {
  /** The document as it was read. */
  readonly original: Node;
  /** Source of each block that was read. A block that is not edited stays the same `Node`, so it is found. */
  private readonly sources = new WeakMap<Node, string>();
  /** Source by the HTML that the page would write for the block, for blocks that were cut and pasted. */
  private readonly known = new Map<string, string>();
  private readonly write = memoizeByNode(writeBlock);
  private before = '';
  /** White space between blocks. */
  private between = '';

  constructor(private readonly html: string) {
    this.original = readHtml(html);
    const parts = splitBlocks(html);
    if (!parts) return;
    if (parts[0]?.trim() === '') this.before = parts.shift() ?? '';
    if (!this.matchesBlocks(parts)) {
      this.before = '';
      return;
    }
    this.between = /\s*$/.exec(parts[0] ?? '')?.[0] ?? '';
    this.original.forEach((node, _offset, index) => {
      this.sources.set(node, parts[index] ?? '');
      this.known.set(this.write(node), parts[index] ?? '');
    });
  }

  private matchesBlocks(parts: string[]): boolean {
    if (parts.length !== this.original.childCount) return false;
    return parts.every((part, index) => {
      const read = readHtml(part);
      return read.childCount === 1 && read.child(0).eq(this.original.child(index));
    });
  }

  /** The text of a document: the stored text while nothing was edited. */
  textOf(doc: Node): string {
    if (doc.eq(this.original)) return this.html;
    if (this.known.size === 0) return writeBlocks(doc);
    let html = this.before;
    doc.forEach((node) => {
      const block = this.write(node);
      html += this.sources.get(node) ?? this.known.get(block) ?? block + this.between;
    });
    return html;
  }
}
