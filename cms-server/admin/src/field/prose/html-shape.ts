// The normalised tree of HTML: two texts with the same shape look and mean the same. Order of attributes,
// white space between blocks, and how neighbouring marks are nested do not count.
import { isWholeDocument, parseHtml, sourceOf } from '../../text/html';
import { pairsOf } from './attributes';
import { groups, isBlock, isElement, runsOf, type Run } from './inline';
import { MARK_OF_TAG } from './marks';

type Shape = string | Shape[];

export function shapeOf(html: string): Shape {
  return [String(isWholeDocument(html)), childShapes(parseHtml(html).body)];
}

export function haveSameShape(a: string, b: string): boolean {
  return JSON.stringify(shapeOf(a)) === JSON.stringify(shapeOf(b));
}

function childShapes(parent: ParentNode): Shape[] {
  return [...groups(parent)].map((group) => (Array.isArray(group) ? lineShape(group) : elementShape(group)));
}

function elementShape(element: Element): Shape {
  const tag = element.localName;
  if (tag === 'pre' || !isBlock(element)) return sortedSource(element);
  return [tag, attributesOf(element), ...childShapes(element)];
}

function sortedSource(element: Element): Shape {
  const children = element instanceof HTMLTemplateElement ? element.content.childNodes : element.childNodes;
  const inner = [...children].map((node) => (isElement(node) ? sortedSource(node) : sourceOf(node)));
  return [element.localName, attributesOf(element), ...inner];
}

function attributesOf(element: Element): string {
  return JSON.stringify([...pairsOf(element)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function lineShape(nodes: globalThis.Node[]): Shape {
  const runs = runsOf(nodes);
  if (!runs) return nodes.map(sourceOf);
  const shape: [marks: string, text: string][] = [];
  for (const run of runs) {
    const marks = JSON.stringify(marksOf(run));
    const last = shape.at(-1);
    if (run.atom) shape.push([marks, `\u0000${JSON.stringify(atomShape(run.atom))}`]);
    else if (last?.[0] === marks && !last[1].startsWith('\u0000')) last[1] += run.text;
    else shape.push([marks, run.text]);
  }
  return shape;
}

function atomShape(node: globalThis.Node): Shape {
  return isElement(node) ? sortedSource(node) : sourceOf(node);
}

/** Marks as a set, since editors order them; `other` marks keep their order. */
function marksOf(run: Run): string[] {
  const all = run.marks.map((element) => ({
    key: `${element.localName} ${attributesOf(element)}`,
    other: MARK_OF_TAG[element.localName] === 'other',
  }));
  const others = all.filter(({ other }) => other).map(({ key }) => key);
  const known = new Set(all.filter(({ other }) => !other).map(({ key }) => key));
  return [...[...known].sort(), '/', ...new Set(others)];
}
