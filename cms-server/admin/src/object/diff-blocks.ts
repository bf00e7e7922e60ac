// Texts with markup as a list of blocks that can be compared: HTML of rich text, and block objects.
// Reads HTML as text, without building elements from it.
import { nextTag } from '../text/tags';
import { isRecord } from '../value/record';

export interface TextBlock {
  /** Element or block type: `p`, `h2`, `image`. */
  label: string;
  text: string;
  /** Everything else of the block: marks, attributes, other data. */
  markup: string;
}

const BLOCK_ELEMENTS = new Set(
  (
    'address article aside blockquote dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function decode(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = hex ? parseInt(String(hex), 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** The blocks of an HTML text. */
export function htmlBlocks(html: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  const open: string[] = [];
  let text = '';
  let markup = '';
  const flush = () => {
    const label = open.at(-1) ?? 'p';
    const shown = label === 'pre' ? text : text.replace(/\s+/g, ' ').trim();
    if (shown !== '' || markup !== '') blocks.push({ label, text: shown, markup });
    text = markup = '';
  };
  let end = 0;
  for (let tag = nextTag(html, 0); tag; tag = nextTag(html, end)) {
    text += decode(html.slice(end, tag.from));
    end = tag.end;
    const { name, closing, attributes } = tag;
    if (name === null) continue;
    if (!BLOCK_ELEMENTS.has(name)) {
      if (name === 'br') text += '\n';
      else {
        markup += `<${closing ? '/' : ''}${name}${attributes === '' ? '' : ` ${attributes}`}>`;
        if (name === 'img') text += `[${decode(/\balt\s*=\s*"([^"]*)"/i.exec(attributes)?.[1] ?? '')}]`;
      }
      continue;
    }
    flush();
    if (name === 'hr') blocks.push({ label: 'hr', text: '', markup: attributes });
    else if (!closing) {
      open.push(name);
      markup = attributes;
    } else if (open.includes(name)) open.splice(open.lastIndexOf(name));
  }
  text += decode(html.slice(end));
  flush();
  return blocks;
}

/** The blocks of a stored block text. */
export function editorBlocks(value: unknown): TextBlock[] {
  const blocks = isRecord(value) && Array.isArray(value.blocks) ? value.blocks : [];
  return blocks.filter(isRecord).map((block) => {
    const data = isRecord(block.data) ? block.data : {};
    const { id: _id, ...markup } = block;
    return {
      label: typeof block.type === 'string' ? block.type : '',
      text: textsOf(data).join('\n'),
      markup: JSON.stringify(markup),
    };
  });
}

/** Properties of blocks that users edit as text. */
const TEXT_PROPERTIES = ['text', 'title', 'message', 'caption', 'code', 'content', 'items', 'url'];

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') {
    const text = htmlBlocks(value)
      .map((block) => block.text)
      .join('\n');
    return text === '' ? [] : [text];
  }
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isRecord(value)) return [];
  return TEXT_PROPERTIES.flatMap((name) => textsOf(value[name]));
}
