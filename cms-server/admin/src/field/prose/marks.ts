// Marks and inline nodes that rich texts and blocks share. `attrs` keeps attributes of the stored element.
import type { DOMOutputSpec, MarkSpec, NodeSpec } from 'prosemirror-model';
import { isOwnImage, isSafeUrl } from '../../value/url';
import { NO_PAIRS, shownPairs } from './attributes';

/** The mark of each inline element; `other` keeps elements without a button of their own. */
export const MARK_OF_TAG: Record<string, string> = {
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  u: 'underline',
  s: 'strike',
  strike: 'strike',
  del: 'strike',
  sub: 'sub',
  sup: 'sup',
  code: 'code',
  a: 'link',
  ...Object.fromEntries(
    'abbr acronym bdi bdo big cite data dfn font ins kbd label mark nobr q samp small span time tt var'
      .split(' ')
      .map((tag) => [tag, 'other']),
  ),
};

/** Attributes of stored elements that are kept. */
export const kept = { attrs: { default: NO_PAIRS } };

/** A mark of one button; `tags` are the elements that mean it, the first one is written by the button. */
function simple(...tags: [string, ...string[]]): MarkSpec {
  return {
    attrs: { tag: { default: tags[0] }, ...kept },
    parseDOM: tags.map((tag) => ({ tag, attrs: { tag } })),
    toDOM: (mark): DOMOutputSpec => [mark.attrs.tag, shownPairs(mark.attrs.attrs), 0],
  };
}

/** Marks, outermost first. Blocks write `b` and `i`, rich texts `strong` and `em`. */
export function markSpecs(short: boolean) {
  return {
    link: {
      attrs: { href: {}, ...kept },
      inclusive: false,
      parseDOM: [
        {
          tag: 'a[href]',
          getAttrs: (element: HTMLElement) => {
            const href = element.getAttribute('href') ?? '';
            return isSafeUrl(href) && { href };
          },
        },
      ],
      toDOM: (mark): DOMOutputSpec => {
        const href: string = mark.attrs.href;
        // An unsafe address is no link: the text stays, and the link bar shows the address.
        return isSafeUrl(href)
          ? ['a', { href, rel: 'noopener noreferrer', ...shownPairs(mark.attrs.attrs) }, 0]
          : ['span', { class: 'dead-link' }, 0];
      },
    } satisfies MarkSpec,
    other: {
      attrs: { tag: { default: 'span' }, ...kept },
      excludes: '',
      parseDOM: ['abbr', 'cite', 'dfn', 'kbd', 'mark', 'q', 'samp', 'small', 'time', 'var'].map((tag) => ({
        tag,
        attrs: { tag },
      })),
      toDOM: (mark): DOMOutputSpec => [
        mark.attrs.tag === 'a' ? 'span' : mark.attrs.tag,
        shownPairs(mark.attrs.attrs),
        0,
      ],
    } satisfies MarkSpec,
    strong: short ? simple('b', 'strong') : simple('strong', 'b'),
    em: short ? simple('i', 'em') : simple('em', 'i'),
    underline: simple('u'),
    strike: simple('s', 'strike', 'del'),
    sub: simple('sub'),
    sup: simple('sup'),
    code: simple('code'),
  };
}

/** What an editor shows of an image: the image when this server has it, else its address as text. */
export function imageDom(src: string, alt: string | null): DOMOutputSpec {
  return isOwnImage(src)
    ? ['img', { src, alt: alt ?? '', loading: 'lazy', decoding: 'async' }]
    : [
        'span',
        { class: 'image-elsewhere', role: 'img', 'aria-label': alt === null || alt === '' ? src : alt },
        src,
      ];
}

export const inlineSpecs = {
  text: { group: 'inline' } satisfies NodeSpec,
  hard_break: {
    inline: true,
    group: 'inline',
    selectable: false,
    linebreakReplacement: true,
    attrs: kept,
    parseDOM: [{ tag: 'br' }],
    toDOM: (): DOMOutputSpec => ['br'],
  } satisfies NodeSpec,
  image: {
    inline: true,
    group: 'inline',
    draggable: true,
    attrs: { src: {}, alt: { default: null }, ...kept },
    parseDOM: [
      {
        tag: 'img[src]',
        getAttrs: (element: HTMLElement) => {
          const src = element.getAttribute('src') ?? '';
          return isOwnImage(src) && !src.startsWith('blob:') && { src, alt: element.getAttribute('alt') };
        },
      },
    ],
    toDOM: (node): DOMOutputSpec => imageDom(node.attrs.src, node.attrs.alt),
  } satisfies NodeSpec,
  /** An element, comment or widget inside a line that the editor does not know. */
  opaque_inline: {
    inline: true,
    group: 'inline',
    atom: true,
    draggable: true,
    attrs: { html: {} },
    toDOM: (node): DOMOutputSpec => ['code', { class: 'opaque-inline' }, excerpt(node.attrs.html, 40)],
  } satisfies NodeSpec,
};

/** The beginning of a text. */
export function excerpt(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** What an editor shows of a block that it does not know. */
export function opaqueCard(title: string, source: string): DOMOutputSpec {
  return ['div', { class: 'opaque' }, ['strong', title], ['code', excerpt(source, 400)]];
}
