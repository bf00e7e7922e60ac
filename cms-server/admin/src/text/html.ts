// Turns HTML text into a document that is never shown: scripts in it do not run, images are not loaded.
// The one file with the Trusted Types policy `cms-parse`; it feeds DOMParser only.
import { uuid } from '../value/uuid';

interface Policy {
  createHTML: (html: string) => string;
}
interface PolicyFactory {
  createPolicy: (name: string, policy: Policy) => Policy;
}
declare global {
  /** Missing in browsers without Trusted Types. A trusted value is declared as the text that it contains. */
  var trustedTypes: PolicyFactory | undefined;
}

const policy = globalThis.trustedTypes?.createPolicy('cms-parse', { createHTML: (html) => html });

/** Prefix of renamed attributes, see `renameReported`; no text contains it. */
const RENAMED_PREFIX = `kept${uuid().slice(0, 8)}-`;
const STYLE_ELEMENT = `${RENAMED_PREFIX}element`;

/** The inert document of a text; its body contains everything, also what belongs into the head. */
export function parseHtml(html: string): Document {
  const whole = `<!doctype html><body>${renameReported(html)}`;
  return new DOMParser().parseFromString(policy ? policy.createHTML(whole) : whole, 'text/html');
}

/**
 * The same text with another name for event handlers and styles: `<b style="x">` becomes `<b kept…-style="x">`.
 * Browsers report these as violations of the Content-Security-Policy even in an inert document, although they
 * neither run nor show anything of it.
 */
export function renameReported(html: string): string {
  return renamed(html, true);
}

/**
 * Renames attributes, and with `styles` the element `style` too. Attributes in the text of elements such as
 * `textarea` are also renamed, because the parser that reads a pasted text may treat them as markup.
 */
function renamed(html: string, styles: boolean): string {
  let out = '';
  let done = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 4);
      if (end < 0) break;
      at = end + 3;
      continue;
    }
    const name = /^<([a-z][^\s/>]*)/i.exec(html.slice(at, at + 40))?.[1]?.toLowerCase();
    if (name === undefined) {
      at += 1;
      continue;
    }
    const { end, attributes } = scanTag(html, at + 1 + name.length);
    if (end < 0) break;
    const close = styles && RAW_TEXT_ELEMENTS.has(name) ? closingTag(html, name, end) : end;
    const inner = html.slice(end, close);
    // A `style` is renamed to `script`, unless it contains `</script`: the `script` would end there.
    const asScript = styles && name === 'style' && !/<\/script/i.test(inner);
    out += html.slice(done, at);
    out += asScript ? `<script ${STYLE_ELEMENT}` : html.slice(at, at + 1 + name.length);
    out += attributes + renamed(inner, false);
    done = at = close;
    if (!asScript || close === html.length) continue;
    out += '</script';
    done = at = close + '</style'.length;
  }
  return out + html.slice(done);
}

/** Elements that contain text only. */
const RAW_TEXT_ELEMENTS = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
]);

function closingTag(html: string, name: string, from: number): number {
  const found = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  found.lastIndex = from;
  return found.exec(html)?.index ?? html.length;
}

/** The attributes of a start tag from `from` on, renamed, and where the tag ends; -1 when it does not. */
function scanTag(html: string, from: number): { end: number; attributes: string } {
  const attribute = /([\s/]*)(?:(>)|([^\s/>][^\s/>=]*)(\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*|(?=>)))?)/y;
  let attributes = '';
  attribute.lastIndex = from;
  for (let match = attribute.exec(html); match; match = attribute.exec(html)) {
    const [, space = '', end, name = '', value = ''] = match;
    attributes += space + (end ?? (/^(on.*|style)$/i.test(name) ? RENAMED_PREFIX : '') + name + value);
    if (end !== undefined) return { end: attribute.lastIndex, attributes };
  }
  return { end: -1, attributes };
}

/** The name of an attribute in the text. */
export function attributeName(name: string): string {
  return name.startsWith(RENAMED_PREFIX) ? name.slice(RENAMED_PREFIX.length) : name;
}

/** The name of an element in the text. */
export function elementName(element: Element): string {
  return element.hasAttribute(STYLE_ELEMENT) ? 'style' : element.localName;
}

/** Returns whether a text has parts of a document around its contents, such as `<body class="a">`. */
export function isWholeDocument(html: string): boolean {
  return /<!doctype|<\/?(html|head|body|frameset)[\s/>]/i.test(html);
}

/** The source of a node. */
export function sourceOf(node: Node): string {
  // The property is only read: no HTML is set.
  // eslint-disable-next-line no-restricted-properties
  if (node instanceof Element) return restored(node.outerHTML);
  const text = node.textContent ?? '';
  return node.nodeType === 8 ? `<!--${text}-->` : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function restored(html: string): string {
  if (!html.includes(RENAMED_PREFIX)) return html;
  const style = new RegExp(`<script ${STYLE_ELEMENT}(?:="")?([^>]*>[^]*?)</script`, 'g');
  return html.replace(style, '<style$1</style').replaceAll(RENAMED_PREFIX, '');
}
