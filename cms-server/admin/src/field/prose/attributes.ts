// Attributes of stored elements that the page does not edit: kept on nodes and marks, written out again.

import { attributeName } from '../../text/html';

/** Attributes in their order. */
export type Pairs = readonly (readonly [name: string, value: string])[];
export const NO_PAIRS: Pairs = [];

/** The attributes of an element, except those that the node holds itself. */
export function pairsOf(element: Element, ...except: string[]): Pairs {
  return [...element.attributes]
    .filter(({ name }) => !except.includes(name))
    .map(({ name, value }) => [attributeName(name), value]);
}

export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\u00a0', '&nbsp;');
}

function escapeValue(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\u00a0', '&nbsp;');
}

/** An attribute; nothing when its value is null. */
export function attribute(name: string, value: string | null): string {
  return value === null ? '' : ` ${name}="${escapeValue(value)}"`;
}

export function writePairs(pairs: Pairs): string {
  return pairs.map(([name, value]) => attribute(name, value)).join('');
}

const RENDERED_ATTRIBUTES = new Set(['lang', 'dir', 'start', 'reversed']);

/** The kept attributes that an editor shows: no styles, no handlers, no classes of another page. */
export function shownPairs(pairs: Pairs): Record<string, string> {
  return Object.fromEntries(pairs.filter(([name]) => RENDERED_ATTRIBUTES.has(name)));
}
