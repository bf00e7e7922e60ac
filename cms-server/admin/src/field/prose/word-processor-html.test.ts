// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { parseHtml, sourceOf } from '../../text/html';
import { withElementsForStyles } from './word-processor-html';

/** The changed HTML without styles, attributes of Word, and comments. */
function changed(html: string): string {
  const { body } = parseHtml(withElementsForStyles(html));
  for (const element of body.querySelectorAll('*'))
    for (const { name } of [...element.attributes]) if (name !== 'href') element.removeAttribute(name);
  for (const span of body.querySelectorAll('span')) span.replaceWith(...span.childNodes);
  return [...body.childNodes]
    .map(sourceOf)
    .join('')
    .replace(/<!--[^]*?-->/g, '');
}

/** A paragraph of a list as Word copies it. */
const word = (level: number, marker: string, text: string) =>
  `<p class=MsoListParagraph style='text-indent:-18.0pt;mso-list:l0 level${String(level)} lfo1'>` +
  `<![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>${marker}` +
  `<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;</span></span></span><![endif]>${text}</p>`;

const cases: [name: string, html: string, expected: string][] = [
  [
    'a paragraph of Google Docs',
    '<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><p dir="ltr">' +
      '<span style="font-weight:400;font-style:normal;text-decoration:none">plain </span>' +
      '<span style="font-weight:700;font-style:normal">bold </span>' +
      '<span style="font-weight:400;font-style:italic">italic </span>' +
      '<span style="font-weight:700;font-style:italic;text-decoration:underline">all</span></p></b>',
    '<meta><p>plain <strong>bold </strong><em>italic </em><u><em><strong>all</strong></em></u></p>',
  ],
  [
    'a link, which is underlined anyway',
    '<a href="/x" style="text-decoration:none"><span style="text-decoration:underline">link</span></a>',
    '<a href="/x">link</a>',
  ],
  [
    'strikethrough, subscript and superscript',
    '<p><span style="text-decoration:line-through">a</span><span style="vertical-align:sub">b</span>' +
      '<span style="vertical-align:super">c</span></p>',
    '<p><s>a</s><sub>b</sub><sup>c</sup></p>',
  ],
  ['an element with the same style', '<b style="font-weight:bold">a</b>', '<b>a</b>'],
  [
    'an element that only has the meaning of another style',
    '<b style="font-weight:400;font-style:italic">a</b>',
    '<em>a</em>',
  ],
  ['spaces', '<span style="font-weight:700"> </span>', ' '],
  [
    'lists of Word',
    `<p>before</p>${word(1, '·', 'one')}${word(2, 'o', 'two')}${word(2, 'o', 'three')}${word(1, '·', 'four')}<p>after</p>`,
    '<p>before</p><ul><li><p>one</p><ul><li><p>two</p></li><li><p>three</p></li></ul></li>' +
      '<li><p>four</p></li></ul><p>after</p>',
  ],
  [
    'lists of Word with numbers, then with bullets',
    word(1, '1.', 'one') + word(2, 'a)', 'two') + word(1, '·', 'three'),
    '<ol><li><p>one</p><ol><li><p>two</p></li></ol></li></ol><ul><li><p>three</p></li></ul>',
  ],
  [
    'two lists of Word with a paragraph in between',
    `${word(2, '·', 'one')}<p>text</p>${word(1, '·', 'two')}`,
    '<ul><li><p>one</p></li></ul><p>text</p><ul><li><p>two</p></li></ul>',
  ],
];

describe('HTML of word processors', () => {
  it.each(cases)('becomes elements: %s', (_name, html, expected) => expect(changed(html)).toBe(expected));

  it.each([
    '<p>x</p>',
    '<td style="font-weight:700">x</td>',
    '<p data-pm-slice="0 0 []" style="color:red">x</p>',
  ])('stays as it is: %s', (html) => expect(withElementsForStyles(html)).toBe(html));
});
