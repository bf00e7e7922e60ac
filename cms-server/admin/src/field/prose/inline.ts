// Inline contents: elements into runs of text with marks, runs into nodes, and nodes into HTML. White
// space is collapsed as browsers do.
import type { Mark, Node, Schema } from 'prosemirror-model';
import { sourceOf } from '../../text/html';
import { attribute, escapeText, pairsOf, writePairs } from './attributes';
import { MARK_OF_TAG } from './marks';

/** Elements that are blocks. Scripts and media are not among them: each becomes an opaque block of its own. */
const BLOCK_ELEMENTS = new Set(
  (
    'address article aside blockquote caption center col colgroup dd details dialog dir div dl dt fieldset figcaption ' +
    'figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section ' +
    'summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);

export function isElement(node: globalThis.Node): node is Element {
  return node.nodeType === 1;
}

export function isBlock(node: globalThis.Node): boolean {
  return isElement(node) && BLOCK_ELEMENTS.has(node.localName);
}

/** A piece of a line: text, or one element or comment, inside its marks (outermost first). */
export interface Run {
  text: string;
  atom: globalThis.Node | null;
  marks: Element[];
}

/** The runs of a line, or null when a block is inside. */
export function runsOf(nodes: Iterable<globalThis.Node>): Run[] | null {
  const runs: Run[] = [];
  const fits = collect(nodes, [], runs);
  if (!fits) return null;
  return collapse(runs);
}

function collect(nodes: Iterable<globalThis.Node>, marks: Element[], runs: Run[]): boolean {
  for (const node of nodes) {
    if (node.nodeType === 3) runs.push({ text: node.textContent ?? '', atom: null, marks });
    else if (isElement(node) && MARK_OF_TAG[node.localName] !== undefined && node.hasChildNodes()) {
      if (!collect(node.childNodes, [...marks, node], runs)) return false;
    } else if (isElement(node) && (isBlock(node) || node.querySelector('p, div, ul, ol, table') !== null))
      return false;
    else runs.push({ text: '', atom: node, marks });
  }
  return true;
}

/** Children in groups: blocks, and lines between them. */
export function* groups(parent: ParentNode): Generator<globalThis.Node[] | Element> {
  let line: globalThis.Node[] = [];
  for (const node of parent.childNodes) {
    const startsBlock = isElement(node) && (isBlock(node) || runsOf([node]) === null);
    if (!startsBlock) {
      line.push(node);
      continue;
    }
    if (!isBlank(line)) yield line;
    line = [];
    yield node;
  }
  if (!isBlank(line)) yield line;
}

function isBlank(nodes: globalThis.Node[]): boolean {
  return nodes.every((node) => node.nodeType === 3 && /^[ \t\n\r\f]*$/.test(node.textContent ?? ''));
}

const WHITE_SPACE = /[ \t\n\r\f]+/g;

/** Collapses white space: none at both ends of the line, one space elsewhere. */
function collapse(runs: Run[]): Run[] {
  let afterSpace = true;
  for (const run of runs) {
    if (run.atom) {
      // The white space before a line break is kept, that after it is not shown.
      if (run.atom.nodeType !== 8) afterSpace = run.atom.nodeName === 'BR';
      continue;
    }
    run.text = run.text.replace(WHITE_SPACE, ' ');
    if (afterSpace) run.text = run.text.replace(/^ /, '');
    if (run.text !== '') afterSpace = run.text.endsWith(' ');
  }
  for (let index = runs.length - 1; index >= 0; index -= 1) {
    const run = runs[index];
    if (!run || run.atom) break;
    run.text = run.text.replace(/ $/, '');
    if (run.text !== '') break;
  }
  return runs.filter((run) => run.atom !== null || run.text !== '');
}

/** Inline nodes of runs. */
export function inlineNodes(schema: Schema, runs: Run[]): Node[] {
  return runs.map((run) => {
    let marks: readonly Mark[] = [];
    for (const element of run.marks) marks = markOf(schema, element).addToSet(marks);
    return run.atom ? atomNode(schema, run.atom).mark(marks) : schema.text(run.text, marks);
  });
}

function markOf(schema: Schema, element: Element): Mark {
  const tag = element.localName;
  const name = MARK_OF_TAG[tag] ?? 'other';
  const href = element.getAttribute('href');
  if (name === 'link' && href !== null) return schema.mark('link', { href, attrs: pairsOf(element, 'href') });
  return schema.mark(name === 'link' ? 'other' : name, { tag, attrs: pairsOf(element) });
}

function atomNode(schema: Schema, node: globalThis.Node): Node {
  if (
    isElement(node) &&
    schema.nodes.image?.isInline &&
    node.localName === 'img' &&
    node.hasAttribute('src')
  ) {
    const attrs = pairsOf(node, 'src', 'alt');
    return schema.node('image', { src: node.getAttribute('src'), alt: node.getAttribute('alt'), attrs });
  }
  if (isElement(node) && node.localName === 'br') return schema.node('hard_break', { attrs: pairsOf(node) });
  return schema.node('opaque_inline', { html: sourceOf(node) });
}

/** HTML of the inline contents of a node. */
export function writeInline(parent: Node): string {
  let html = '';
  let open: readonly Mark[] = [];
  parent.forEach((node) => {
    const marks = ordered(open, node.marks);
    const differs = open.findIndex((mark, index) => {
      const other = marks[index];
      return !other || !mark.eq(other);
    });
    const same = differs < 0 ? open.length : differs;
    html += closing(open.slice(same));
    html += marks.slice(same).map(openTag).join('');
    open = marks;
    html += writeLeaf(node);
  });
  return html + closing(open);
}

/** Marks that are open already stay the outer ones, so that an element is not closed and opened again. */
function ordered(open: readonly Mark[], marks: readonly Mark[]): readonly Mark[] {
  const staying: Mark[] = [];
  for (const mark of open) {
    if (!mark.isInSet(marks)) break;
    staying.push(mark);
  }
  return [...staying, ...marks.filter((mark) => !mark.isInSet(staying))];
}

function elementOf(mark: Mark): string {
  return mark.type.name === 'link' ? 'a' : mark.attrs.tag;
}

function openTag(mark: Mark): string {
  const href = mark.type.name === 'link' ? attribute('href', mark.attrs.href) : '';
  return `<${elementOf(mark)}${href}${writePairs(mark.attrs.attrs)}>`;
}

function closing(marks: readonly Mark[]): string {
  return marks
    .map((mark) => `</${elementOf(mark)}>`)
    .reverse()
    .join('');
}

function writeLeaf(node: Node): string {
  switch (node.type.name) {
    case 'text':
      return escapeText(node.text ?? '');
    case 'hard_break':
      return `<br${writePairs(node.attrs.attrs)}>`;
    case 'image':
      return writeImage(node.attrs.src, node.attrs.alt, node.attrs.attrs);
    default:
      return node.attrs.html;
  }
}

export function writeImage(src: string, alt: string | null, attrs: Parameters<typeof writePairs>[0]): string {
  return `<img${attribute('src', src)}${attribute('alt', alt)}${writePairs(attrs)}>`;
}
