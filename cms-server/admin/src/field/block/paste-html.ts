// Changes pasted HTML to what block texts can store: a cell is one text, all rows have the same number of columns, and
// a quotation is a text and a caption. ProseMirror would repair other tables with empty cells at wrong places.
import { parseHtml, sourceOf } from '../../text/html';
import { spanOf } from '../prose/block-specs';
import { groups, isBlock, isElement } from '../prose/inline';
import { QUOTE_PARTS } from './schema';

type Line = Node[];

/** `allowed` returns whether a type of block may be pasted: the text of other blocks is pasted as paragraphs. */
export function normalizePastedHtml(html: string, allowed: (type: string) => boolean): string {
  const { body } = parseHtml(html);
  const tables = allowed('table') ? [...body.querySelectorAll('table')] : [];
  const quotes = allowed('quote') ? [...body.querySelectorAll(`blockquote:not([${QUOTE_PARTS}])`)] : [];
  // The parser drops cells that are outside of a table: such HTML stays as it is.
  if (tables.length + quotes.length === 0) return html;
  // A table inside a cell has become lines of that cell, and is no longer connected.
  for (const table of tables) if (table.isConnected) normalizeTable(table);
  for (const quote of quotes) if (quote.isConnected) normalizeQuote(quote);
  return [...body.childNodes].map(sourceOf).join('');
}

function normalizeTable(table: HTMLTableElement): void {
  if (table.caption) {
    table.before(paragraph(linesOf(table.caption), table));
    table.caption.remove();
  }
  moveImages(table);
  // Word and Excel write the widths of merged columns as a row.
  for (const row of [...table.rows]) if (row.getAttribute('height') === '0') row.remove();

  const rows = [...table.rows].map((row) => ({ row, cells: new Map<number, Element>() }));
  /** For each column, the number of rows, from this one on, that a cell above occupies. */
  const covered: number[] = [];
  for (const { row, cells } of rows) {
    let column = 0;
    for (const cell of row.cells) {
      while ((covered[column] ?? 0) > 0) column += 1;
      cells.set(column, cell);
      const [width, height] = [spanOf(cell, 'colspan'), spanOf(cell, 'rowspan')];
      for (const end = column + width; column < end; column += 1) covered[column] = height;
    }
    covered.forEach((count, at) => (covered[at] = Math.max(0, count - 1)));
  }
  // A column in which no cell starts has no contents.
  const columns = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))].sort((a, b) => a - b);
  for (const { row, cells } of rows) {
    const tag = cells.size > 0 && [...cells.values()].every(isHeading) ? 'th' : 'td';
    row.replaceChildren(
      ...columns.map((column) => {
        const cell = cells.get(column) ?? row.ownerDocument.createElement(tag);
        for (const name of ['colspan', 'rowspan']) cell.removeAttribute(name);
        cell.replaceChildren(paragraph(linesOf(cell), cell));
        return cell;
      }),
    );
  }
}

const isHeading = (cell: Element) => cell.localName === 'th';

function normalizeQuote(quote: Element): void {
  if (quote.querySelector('table')) {
    quote.replaceWith(...quote.childNodes);
    return;
  }
  moveImages(quote);
  const footer = quote.querySelector('footer');
  footer?.remove();
  const lines = linesOf(quote);
  const cite = footer || lines.length < 2 ? undefined : citeOf(lines.at(-1) ?? []);
  if (cite) lines.pop();
  const caption = footer ? linesOf(footer) : cite ? [[...cite.childNodes]] : [];
  quote.replaceChildren(paragraph(lines, quote), paragraph(caption, quote));
}

/** The `cite` of a line that has nothing else, except for a dash. */
function citeOf(line: Line): Element | undefined {
  const cite = line.filter(isElement).find(({ localName }) => localName === 'cite');
  const others = line.filter((node) => node !== cite).map((node) => node.textContent ?? '');
  return /^[\s—–-]*$/.test(others.join('')) ? cite : undefined;
}

/** Images are blocks: they follow the block that cannot contain them. */
function moveImages(block: Element): void {
  block.after(...block.querySelectorAll('img'));
}

function paragraph(lines: Line[], { ownerDocument }: Element): Element {
  const element = ownerDocument.createElement('p');
  lines.forEach((line, index) => {
    if (index > 0) element.append(ownerDocument.createElement('br'));
    element.append(...line);
  });
  return element;
}

/** The blocks inside an element, each as the contents of a line. */
function linesOf(parent: Element): Line[] {
  if (parent.localName === 'pre') {
    const lines = parent.textContent.replace(/\n$/, '').split('\n');
    return lines.map((text) => [parent.ownerDocument.createTextNode(text)]);
  }
  return [...groups(parent)].flatMap((group) => {
    if (Array.isArray(group)) return lineOf(group);
    const lines = linesOf(group);
    return isBlock(group) ? lines : lines.map((line) => wrapped(line, group));
  });
}

/** A link or a mark around blocks becomes one around each of their lines. */
function wrapped(line: Line, element: Element): Line {
  const wrapper = element.cloneNode(false) as Element;
  wrapper.append(...line);
  return [wrapper];
}

const isBreak = (node: Node | undefined) => node?.nodeName === 'BR';
const isBlank = (node: Node | undefined) =>
  node !== undefined && !isBreak(node) && /^[ \t\n\r\f]*$/.test(node.textContent ?? '');

/** The line without what browsers do not show: comments, outer white space, and a line break at the end. */
function lineOf(nodes: Node[]): Line[] {
  const line = nodes.filter(({ nodeType }) => nodeType !== 8);
  if (line.every(isBlank)) return [];
  const trimEnd = () => {
    while (isBlank(line.at(-1))) line.pop();
  };
  trimEnd();
  if (isBreak(line.at(-1))) line.pop();
  trimEnd();
  while (isBlank(line[0])) line.shift();
  trimText(line[0], /^[ \t\n\r\f]+/);
  trimText(line.at(-1), /[ \t\n\r\f]+$/);
  return [line];
}

function trimText(node: Node | undefined, space: RegExp): void {
  if (node?.nodeType === 3) node.textContent = (node.textContent ?? '').replace(space, '');
}
