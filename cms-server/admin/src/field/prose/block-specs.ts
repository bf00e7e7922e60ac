// Block nodes that rich texts and blocks share. `attrs` is what each of them keeps of a stored block.
import type { DOMOutputSpec, NodeSpec } from 'prosemirror-model';
import { imageDom } from './marks';

type Attributes = NonNullable<NodeSpec['attrs']>;

export const codeBlockSpec = (attrs: Attributes): NodeSpec => ({
  content: 'text*',
  marks: '',
  group: 'block',
  code: true,
  defining: true,
  attrs,
  parseDOM: [{ tag: 'pre', preserveWhitespace: 'full' }],
  toDOM: (): DOMOutputSpec => ['pre', ['code', 0]],
});

export const tableSpec = (attrs: Attributes): NodeSpec => ({
  content: 'table_row+',
  group: 'block',
  tableRole: 'table',
  isolating: true,
  attrs,
  parseDOM: [{ tag: 'table' }],
  toDOM: (): DOMOutputSpec => ['div', { class: 'table' }, ['table', ['tbody', 0]]],
});

/** How many columns or rows a cell spans. */
export function spanOf(cell: Element, name: string): number {
  const value = Number(cell.getAttribute(name) ?? 1);
  return Number.isInteger(value) && value > 0 && value <= 1000 ? value : 1;
}

export const ruleSpec = (attrs: Attributes): NodeSpec => ({
  group: 'block',
  attrs,
  parseDOM: [{ tag: 'hr' }],
  toDOM: (): DOMOutputSpec => ['hr'],
});

/** What an editor shows of an image with a caption. */
export const figureDom = (src: string, alt: string | null): DOMOutputSpec => [
  'figure',
  ['div', { contenteditable: 'false' }, imageDom(src, alt)],
  ['figcaption', 0],
];
