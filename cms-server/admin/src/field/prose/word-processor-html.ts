// Pasted HTML of word processors: formatting that is only in styles becomes elements, which the schema knows, and
// Word's paragraphs of lists become lists.
import { attributeName, parseHtml, sourceOf } from '../../text/html';
import { isBlock } from './inline';

/** The element that means the value of a property, and the elements that have no meaning with another value. */
const FORMATS: { property: RegExp; value: RegExp; tag: string; aliases: string[] }[] = [
  { property: /^font-weight$/, value: /^(bold|bolder|[6-9]00)$/, tag: 'strong', aliases: ['strong', 'b'] },
  { property: /^font-style$/, value: /^(italic|oblique)/, tag: 'em', aliases: ['em', 'i'] },
  { property: /^text-decoration(-line)?$/, value: /\bunderline\b/, tag: 'u', aliases: ['u'] },
  {
    property: /^text-decoration(-line)?$/,
    value: /\bline-through\b/,
    tag: 's',
    aliases: ['s', 'strike', 'del'],
  },
  { property: /^vertical-align$/, value: /^sub$/, tag: 'sub', aliases: ['sub'] },
  { property: /^vertical-align$/, value: /^super$/, tag: 'sup', aliases: ['sup'] },
];

/** The parser drops parts of a table that are outside of one; copies of an editor have all elements that they need. */
const UNCHANGED = /^(\s*<meta [^>]*>)*\s*<(caption|col|tbody|td|tfoot|th|thead|tr)\b|\bdata-pm-slice=/i;

/** Runs before the plugins of an editor change the pasted HTML. */
export function withElementsForStyles(html: string): string {
  if (!/\bstyle\s*=/i.test(html) || UNCHANGED.test(html)) return html;
  const { body } = parseHtml(html);
  listsOfWord(body);
  for (const element of body.querySelectorAll('*')) if (!isBlock(element)) formatByElements(element);
  return [...body.childNodes].map(sourceOf).join('');
}

/** The properties of the style of an element, in lower case. */
function styleOf(element: Element): [property: string, value: string][] {
  const source = [...element.attributes].find(({ name }) => attributeName(name) === 'style')?.value ?? '';
  return source.split(';').map((declaration) => {
    const [property = '', value = ''] = declaration.toLowerCase().split(':');
    return [property.trim(), value.trim()];
  });
}

function formatByElements(element: Element): void {
  const style = styleOf(element);
  let isUndone = false;
  for (const { property, value, tag, aliases } of FORMATS) {
    const values = style.filter(([name]) => property.test(name)).map(([, declared]) => declared);
    if (values.length === 0) continue;
    const isFormatted = values.some((declared) => value.test(declared));
    const isAlias = aliases.includes(element.localName);
    // Google Docs puts everything that it copies into `<b style="font-weight:normal">`.
    if (isAlias && !isFormatted) isUndone = true;
    // Links are underlined anyway.
    if (!isAlias && isFormatted && !(tag === 'u' && element.closest('a'))) wrapContents(element, tag);
  }
  if (isUndone) element.replaceWith(...element.childNodes);
}

function wrapContents(element: Element, tag: string): void {
  if (element.textContent.trim() === '') return;
  const wrapper = element.ownerDocument.createElement(tag);
  wrapper.append(...element.childNodes);
  element.append(wrapper);
}

/** Word writes an item as a paragraph with a style such as `mso-list:l0 level2 lfo1`, which begins with its marker. */
function listsOfWord(body: Element): void {
  /** The lists around the last item, outermost first. */
  let open: { list: Element; level: number }[] = [];
  for (const paragraph of body.querySelectorAll('p')) {
    const list = styleOf(paragraph).find(([name]) => name === 'mso-list')?.[1] ?? '';
    const level = Number(/\blevel(\d)/.exec(list)?.[1] ?? 0);
    if (level === 0) continue;
    const marker = [...paragraph.querySelectorAll('span')].find((span) =>
      styleOf(span).some(([name, value]) => name === 'mso-list' && value === 'ignore'),
    );
    const tag = /[\p{L}\d][.)]/u.test(marker?.textContent ?? '') ? 'ol' : 'ul';
    marker?.remove();

    if (paragraph.previousElementSibling !== open[0]?.list) open = [];
    open = open.filter(
      (outer) => outer.level < level || (outer.level === level && outer.list.localName === tag),
    );
    const inner = open.at(-1);
    let items = inner?.list;
    if (inner?.level !== level) {
      items = paragraph.ownerDocument.createElement(tag);
      if (inner) inner.list.lastElementChild?.append(items);
      else paragraph.before(items);
      open.push({ list: items, level });
    }
    const item = paragraph.ownerDocument.createElement('li');
    items?.append(item);
    item.append(paragraph);
  }
}
