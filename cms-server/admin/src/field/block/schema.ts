// The document of a block text: one node per block. `raw` is the stored block, with its id, its tunes (settings of
// Editor.js, such as the alignment) and everything in `data` that the page does not edit; its text is in the node.
import { Schema, type DOMOutputSpec, type Node, type NodeSpec } from 'prosemirror-model';
import { cachedSummary } from '../../object/summary-cache.svelte';
import { MEDIA_TYPE } from '../../object/summary';
import { t } from '../../text';
import { record } from '../../type/definition';
import { fileOfUrl } from '../../value/media';
import { decoded } from '../../value/url';
import { codeBlockSpec, figureDom, ruleSpec, tableSpec } from '../prose/block-specs';
import { inlineSpecs, markSpecs, opaqueCard } from '../prose/marks';

/** A stored block, or what is known of a new one. */
export type Raw = Record<string, unknown>;

const rawAttr = { raw: { default: null } };

export function dataOf(raw: unknown): Raw {
  return record(record(raw).data);
}

/** A new block; it gets its id when it is in the document. */
export function newRaw(type: string, data: Raw = {}): Raw {
  return { type, data };
}

/** The block with changed members of `data`; its other members stay. */
export function withData(raw: unknown, type: string, data: Raw): Raw {
  const old = record(raw);
  return { ...old, type, data: { ...dataOf(raw), ...data } };
}

export function levelOf(node: Node): number {
  const level = Number(dataOf(node.attrs.raw).level);
  return Number.isInteger(level) && level >= 1 && level <= 6 ? level : 2;
}

export function alignmentOf(raw: unknown): string {
  const tune = record(record(record(raw).tunes).alignmentTuneTool).alignment;
  const own = dataOf(raw).alignment;
  return typeof tune === 'string' ? tune : typeof own === 'string' ? own : 'left';
}

function alignClass(node: Node): Record<string, string> {
  const alignment = alignmentOf(node.attrs.raw);
  return alignment === 'center' || alignment === 'right' ? { class: `align-${alignment}` } : {};
}

export function styleOf(list: Node): string {
  return dataOf(list.attrs.raw).style === 'ordered' ? 'ordered' : 'unordered';
}

export function textData(raw: unknown, name: string): string {
  const value = dataOf(raw)[name];
  return typeof value === 'string' ? value : '';
}

/** The placeholder of an empty paragraph inside another block. */
function partName(parent: Node | null, index: number): string {
  switch (parent?.type.name) {
    case 'quote':
      return index === 0 ? t.texts.quoteText : t.texts.quoteBy;
    case 'warning':
      return index === 0 ? t.texts.warningTitle : t.texts.warningText;
    default:
      return '';
  }
}

/** Marks a copied quotation: its second paragraph is the caption, not text as in other HTML. */
export const QUOTE_PARTS = 'data-quote-parts';

const cell = (tag: 'td' | 'th', role: string): NodeSpec => ({
  content: 'paragraph',
  tableRole: role,
  isolating: true,
  attrs: { colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
  parseDOM: [{ tag }],
  toDOM: (): DOMOutputSpec => [tag, 0],
});

/** Two texts that belong together. */
const pair = {
  content: 'paragraph paragraph',
  group: 'block',
  defining: true,
  isolating: true,
  attrs: rawAttr,
};

/** A block without a text. */
const card = { group: 'block', atom: true, draggable: true, attrs: rawAttr };

export const blockSchema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    paragraph: {
      content: 'inline*',
      group: 'block',
      attrs: rawAttr,
      placeholder: partName,
      parseDOM: [{ tag: 'p' }],
      toDOM: (node): DOMOutputSpec => ['p', alignClass(node), 0],
    },
    header: {
      content: 'inline*',
      group: 'block',
      defining: true,
      attrs: rawAttr,
      parseDOM: [1, 2, 3, 4, 5, 6].map((level) => ({
        tag: `h${String(level)}`,
        attrs: { raw: newRaw('header', { level, anchor: '' }) },
      })),
      toDOM: (node): DOMOutputSpec => [`h${String(levelOf(node))}`, alignClass(node), 0],
    },
    list: {
      content: 'list_item+',
      group: 'block',
      // Nested lists have no block of their own: they look like the list around them.
      attrs: rawAttr,
      parseDOM: [
        { tag: 'ul', attrs: { raw: newRaw('list', { style: 'unordered' }) } },
        { tag: 'ol', attrs: { raw: newRaw('list', { style: 'ordered' }) } },
      ],
      toDOM: (node): DOMOutputSpec =>
        node.attrs.raw === null
          ? ['ul', { class: 'nested' }, 0]
          : [styleOf(node) === 'ordered' ? 'ol' : 'ul', 0],
    },
    list_item: {
      content: 'paragraph list?',
      defining: true,
      attrs: rawAttr,
      parseDOM: [{ tag: 'li' }],
      toDOM: (): DOMOutputSpec => ['li', 0],
    },
    quote: {
      ...pair,
      parseDOM: [{ tag: 'blockquote' }],
      toDOM: (node): DOMOutputSpec => ['blockquote', { [QUOTE_PARTS]: '', ...alignClass(node) }, 0],
    },
    warning: {
      ...pair,
      toDOM: (): DOMOutputSpec => ['div', { class: 'notice warning' }, 0],
    },
    image: {
      content: 'inline*',
      group: 'block',
      isolating: true,
      draggable: true,
      attrs: rawAttr,
      placeholder: () => t.texts.caption,
      parseDOM: [
        {
          tag: 'img[src]',
          getAttrs: (element: HTMLElement) => {
            const known = inlineSpecs.image.parseDOM[0]?.getAttrs(element);
            return known ? { raw: newRaw('image', imageData(known.src)) } : false;
          },
        },
      ],
      toDOM: (node): DOMOutputSpec => {
        const src = textData(node.attrs.raw, 'url');
        return figureDom(src, altOf(src));
      },
    },
    code_block: codeBlockSpec(rawAttr),
    table: tableSpec(rawAttr),
    table_row: {
      content: '(table_cell | table_header)*',
      tableRole: 'row',
      parseDOM: [{ tag: 'tr' }],
      toDOM: (): DOMOutputSpec => ['tr', 0],
    },
    table_cell: cell('td', 'cell'),
    table_header: cell('th', 'header_cell'),
    delimiter: ruleSpec(rawAttr),
    youtubeEmbed: {
      ...card,
      toDOM: (node): DOMOutputSpec => {
        const title = `${t.texts.block.youtubeEmbed}. ${t.texts.videoNotLoaded}`;
        return opaqueCard(title, textData(node.attrs.raw, 'url'));
      },
    },
    /** A block that the editor does not know, or cannot show without changing it. */
    opaque: {
      ...card,
      toDOM: (node): DOMOutputSpec => {
        const { raw } = node.attrs;
        const type = record(raw).type;
        const title = t.texts.unknownBlock(typeof type === 'string' ? type : '?');
        return opaqueCard(title, JSON.stringify(record(raw).data ?? raw, null, 1));
      },
    },
    text: inlineSpecs.text,
    hard_break: inlineSpecs.hard_break,
    opaque_inline: inlineSpecs.opaque_inline,
  },
  marks: markSpecs(true),
});

/** The alternative text of the file, if it is cached; not the caption, which is shown beside the image. */
function altOf(src: string): string {
  const file = fileOfUrl(src);
  const known = file && cachedSummary({ type: MEDIA_TYPE, id: file.id });
  return typeof known === 'object' ? (known?.file?.alt ?? '') : '';
}

/** `data` of a new image block. */
export function imageData(url: string) {
  const fileName = decoded(url.split(/[?#]/)[0]?.split('/').at(-1) ?? '');
  const extension = /\.([a-z0-9]+)$/i.exec(fileName)?.[1] ?? '';
  return {
    url,
    width: 0,
    height: 0,
    fileName,
    extension,
    stretched: false,
    withBorder: false,
    withBackground: false,
  };
}
