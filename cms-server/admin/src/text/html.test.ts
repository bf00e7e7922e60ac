// @vitest-environment jsdom
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHtml, renameReported, sourceOf } from './html';

const source = (html: string) => [...parseHtml(html).body.childNodes].map(sourceOf).join('');

describe('inert HTML', () => {
  it.each([
    '<p onclick="a()" style="color:red">x</p>',
    '<style media="x">p > a { color: red }</style><p>x</p>',
    '<script>if (a < b) "<p onclick=x>"</script>',
    '<p title="a &gt; b" onclick="c">style= onclick=</p>',
    '<!-- <p style="x"> --><b style="">y</b>',
    '<textarea>&lt;p style="x"&gt;</textarea>',
    '<style>a</script>b</style>',
    '<textarea></textarea><title>x</title>',
    'a < b <c',
  ])('keeps %j and has no handler or style in it', (html) => {
    const { body } = parseHtml(html);
    expect(body.querySelector('[style], [onclick]')).toBeNull();
    expect(source(html)).toBe(html.replace('a < b <c', 'a &lt; b '));
  });

  it('finds the handlers that a browser would find', () => {
    const piece = fc.constantFrom(
      '<p',
      '<img',
      '/',
      ' ',
      '>',
      'onclick',
      'style',
      '=',
      '"',
      "'",
      'a',
      '<!--',
      '-->',
      '<b>',
      '</b>',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const html = pieces.join('');
        const { body } = parseHtml(html);
        expect(body.querySelector('[style], [onclick]')).toBeNull();
        const plain = new DOMParser().parseFromString(`<!doctype html><body>${html}`, 'text/html').body;
        expect(source(html)).toBe([...plain.childNodes].map(sourceOf).join(''));
        expect(renameReported('x')).toBe('x');
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
