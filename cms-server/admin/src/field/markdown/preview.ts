// The preview of Markdown: nodes made one by one from the tokens of marked, so that no text ever becomes
// HTML of the page. HTML in the text is read in an inert document, and only known elements are copied.
import { lexer, type Token, type Tokens } from 'marked';
import { parseHtml } from '../../text/html';
import { isOwnImage, isSafeUrl } from '../../value/url';

const ELEMENTS = new Set(
  (
    'a abbr b blockquote br caption cite code dd del details dfn dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ' +
    'ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var div section'
  ).split(' '),
);
const ATTRIBUTES = new Set(['title', 'lang', 'dir', 'colspan', 'rowspan', 'start', 'open']);
/** Elements that are dropped with their contents, which are no text for readers. */
const DROPPED_ELEMENTS = new Set(
  'script style template title noscript iframe object embed svg math head'.split(' '),
);

/** The nodes that show a Markdown text. */
export function previewOf(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(lexer(text, { gfm: true })));
  return fragment;
}

function make(tag: string, children: Node[], attributes: Record<string, string> = {}): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function blocks(tokens: Token[]): Node[] {
  return tokens.flatMap(block);
}

function isHtml(token: Token): token is Tokens.HTML {
  return token.type === 'html';
}

function block(token: Token): Node[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'heading':
      return [make(`h${String(token.depth)}`, inlines(token.tokens))];
    case 'paragraph':
      return [make('p', inlines(token.tokens))];
    case 'blockquote':
      return [make('blockquote', blocks(token.tokens ?? []))];
    case 'code':
      return [make('pre', [make('code', [new Text(token.text)])])];
    case 'hr':
      return [make('hr', [])];
    case 'list':
      return [list(token)];
    case 'table':
      return [table(token)];
    case 'checkbox':
      return inline(token);
    case 'text':
      return token.tokens ? inlines(token.tokens) : [new Text(unescaped(token.text))];
    default:
      return isHtml(token) ? copies(parseHtml(token.raw).body) : [new Text(token.raw)];
  }
}

function list(token: Token): HTMLElement {
  const items: Tokens.ListItem[] = token.type === 'list' ? token.items : [];
  const start: unknown = token.type === 'list' ? token.start : '';
  const attributes = typeof start === 'number' && start !== 1 ? { start: String(start) } : {};
  const children = items.map((item) => make('li', blocks(item.tokens)));
  return make(token.type === 'list' && token.ordered === true ? 'ol' : 'ul', children, attributes);
}

function table(token: Token): HTMLElement {
  const header: Tokens.TableCell[] = token.type === 'table' ? token.header : [];
  const rows: Tokens.TableCell[][] = token.type === 'table' ? token.rows : [];
  const head = make(
    'tr',
    header.map((cell) => make('th', inlines(cell.tokens), { scope: 'col' })),
  );
  const body = rows.map((row) =>
    make(
      'tr',
      row.map((cell) => make('td', inlines(cell.tokens))),
    ),
  );
  return make('table', [make('thead', [head]), make('tbody', body)]);
}

/** Inline tokens; HTML elements come as separate tokens for their beginning and end. */
function inlines(tokens: Token[] | undefined): Node[] {
  const all = tokens ?? [];
  const nodes: Node[] = [];
  for (let index = 0; index < all.length; index += 1) {
    const token = all[index];
    if (!token) continue;
    if (!isHtml(token)) {
      nodes.push(...inline(token));
      continue;
    }
    const tag = /^<([a-z][a-z0-9-]*)[^>]*[^/]?>$/i.exec(token.raw)?.[1]?.toLowerCase();
    const end = all.findIndex(
      (other, at) => at > index && isHtml(other) && other.raw.toLowerCase() === `</${tag ?? ''}>`,
    );
    if (tag === undefined || end < 0) {
      nodes.push(...copies(parseHtml(token.raw).body));
      continue;
    }
    const [element] = copies(parseHtml(token.raw).body);
    const inner = DROPPED_ELEMENTS.has(tag) ? [] : inlines(all.slice(index + 1, end));
    if (element instanceof HTMLElement) {
      element.append(...inner);
      nodes.push(element);
    } else nodes.push(...inner);
    index = end;
  }
  return nodes;
}

function inline(token: Token): Node[] {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [make(token.type, inlines(token.tokens))];
    case 'codespan':
      return [make('code', [new Text(token.text)])];
    case 'br':
      return [make('br', [])];
    case 'link':
      return [link(token.href, inlines(token.tokens))];
    case 'image':
      return [image(token.href, token.text)];
    case 'checkbox':
      return [new Text(token.checked === true ? '☑ ' : '☐ ')];
    case 'escape':
      return [new Text(token.text)];
    case 'text':
      return token.tokens ? inlines(token.tokens) : [new Text(unescaped(token.text))];
    default:
      return [new Text(token.raw)];
  }
}

/** The text with its character references, such as `&nbsp;`, decoded. */
function unescaped(text: string): string {
  return text.includes('&') ? (parseHtml(text.replaceAll('<', '&lt;')).body.textContent ?? text) : text;
}

function link(href: string, children: Node[]): HTMLElement {
  if (!isSafeUrl(href)) return make('span', children, { class: 'dead-link' });
  return make('a', children, { href, target: '_blank', rel: 'noopener noreferrer' });
}

function image(src: string, alt: string): HTMLElement {
  if (isOwnImage(src)) return make('img', [], { src, alt, loading: 'lazy' });
  const label = alt === '' ? src : alt;
  return make('span', [new Text(label)], { class: 'image-elsewhere', role: 'img', 'aria-label': label });
}

/** Copies of the children of an inert element. An unknown element is replaced by copies of its children. */
function copies(parent: Node): Node[] {
  return [...parent.childNodes].flatMap((node): Node[] => {
    if (node.nodeType === 3) return [new Text(node.textContent ?? '')];
    if (!(node instanceof Element)) return [];
    const tag = node.localName;
    if (DROPPED_ELEMENTS.has(tag)) return [];
    if (!ELEMENTS.has(tag)) return copies(node);
    if (tag === 'a') return [link(node.getAttribute('href') ?? '', copies(node))];
    if (tag === 'img') return [image(node.getAttribute('src') ?? '', node.getAttribute('alt') ?? '')];
    const kept = [...node.attributes].filter(({ name }) => ATTRIBUTES.has(name));
    return [make(tag, copies(node), Object.fromEntries(kept.map(({ name, value }) => [name, value])))];
  });
}
