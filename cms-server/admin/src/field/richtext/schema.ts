// The document of a rich text: the nodes of the blocks that are edited as text; every other block is an opaque node.
import { Schema, type DOMOutputSpec, type NodeSpec } from 'prosemirror-model';
import { t } from '../../text';
import { NO_PAIRS, shownPairs } from '../prose/attributes';
import { codeBlockSpec, figureDom, ruleSpec, tableSpec, spanOf } from '../prose/block-specs';
import { inlineSpecs, kept, markSpecs, opaqueCard } from '../prose/marks';

/** A node that is shown as one element around its contents. */
const element = (tag: string): NodeSpec => ({
  attrs: kept,
  parseDOM: [{ tag }],
  toDOM: (node): DOMOutputSpec => [tag, shownPairs(node.attrs.attrs), 0],
});

const cell = (tag: 'td' | 'th', role: string): NodeSpec => ({
  content: 'block+',
  tableRole: role,
  isolating: true,
  attrs: { colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null }, ...kept },
  parseDOM: [
    {
      tag,
      getAttrs: (element: HTMLElement) => ({
        colspan: spanOf(element, 'colspan'),
        rowspan: spanOf(element, 'rowspan'),
      }),
    },
  ],
  toDOM: (node): DOMOutputSpec => {
    const { colspan, rowspan, attrs } = node.attrs;
    return [tag, { colspan, rowspan, ...shownPairs(attrs) }, 0];
  },
});

export const richTextSchema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    paragraph: {
      content: 'inline*',
      group: 'block',
      // `p`: stored in an element `p`. `bare`: stored without it. `auto`: a new paragraph; its parent decides.
      attrs: { form: { default: 'auto' }, ...kept },
      parseDOM: [{ tag: 'p' }],
      toDOM: (node): DOMOutputSpec => ['p', shownPairs(node.attrs.attrs), 0],
    },
    heading: {
      content: 'inline*',
      group: 'block',
      defining: true,
      attrs: { level: { default: 2 }, ...kept },
      parseDOM: [1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${String(level)}`, attrs: { level } })),
      toDOM: (node): DOMOutputSpec => [`h${String(node.attrs.level)}`, shownPairs(node.attrs.attrs), 0],
    },
    bullet_list: { content: 'list_item+', group: 'block', ...element('ul') },
    ordered_list: { content: 'list_item+', group: 'block', ...element('ol') },
    list_item: { content: 'block+', defining: true, ...element('li') },
    blockquote: { content: 'block+', group: 'block', defining: true, ...element('blockquote') },
    // `code`: attributes of the <code> inside; null when there is none.
    code_block: codeBlockSpec({ code: { default: NO_PAIRS }, ...kept }),
    /** An image block; its text is the caption. */
    figure: {
      content: 'inline*',
      group: 'block',
      isolating: true,
      draggable: true,
      attrs: {
        src: {},
        alt: { default: null },
        image: { default: NO_PAIRS },
        // Attributes of <figcaption>; null when there is none.
        caption: { default: null },
        ...kept,
      },
      placeholder: () => t.texts.caption,
      parseDOM: [
        {
          tag: 'figure',
          contentElement: (element) => element.querySelector('figcaption') ?? document.createElement('span'),
          getAttrs: (element: HTMLElement) => {
            const image = element.querySelector('img');
            const rule = inlineSpecs.image.parseDOM[0];
            return image !== null && (rule?.getAttrs(image) ?? false);
          },
        },
      ],
      toDOM: (node): DOMOutputSpec => figureDom(node.attrs.src, node.attrs.alt),
    },
    horizontal_rule: ruleSpec(kept),
    // `before`: source of caption and column groups.
    table: tableSpec({ before: { default: '' }, ...kept }),
    table_row: {
      content: '(table_cell | table_header)*',
      tableRole: 'row',
      attrs: { section: { default: 'tbody' }, ...kept },
      parseDOM: [
        {
          tag: 'tr',
          getAttrs: (element: HTMLElement) => ({
            section: element.parentElement?.localName === 'thead' ? 'thead' : 'tbody',
          }),
        },
      ],
      toDOM: (): DOMOutputSpec => ['tr', 0],
    },
    table_cell: cell('td', 'cell'),
    table_header: cell('th', 'header_cell'),
    /** A block that the editor does not know: a card, written out as it was read. */
    opaque: {
      group: 'block',
      atom: true,
      draggable: true,
      attrs: { html: {} },
      toDOM: (node): DOMOutputSpec => {
        const tag = /^<([a-z][^\s/>]*)/i.exec(node.attrs.html)?.[1] ?? '!--';
        return opaqueCard(t.texts.element(`<${tag}>`), node.attrs.html);
      },
    },
    ...inlineSpecs,
  },
  marks: markSpecs(false),
});
