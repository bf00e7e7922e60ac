// @vitest-environment jsdom
import { EditorState } from '@codemirror/state';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insert, insertBlock, toggleAround, toggleLines } from './edit';
import { previewOf } from './preview';

function html(markdown: string): string {
  return new XMLSerializer()
    .serializeToString(previewOf(markdown))
    .replaceAll(' xmlns="http://www.w3.org/1999/xhtml"', '');
}

describe('preview of Markdown', () => {
  it.each([
    [
      '# Head\n\nText **bold** *em* `code`',
      '<h1>Head</h1><p>Text <strong>bold</strong> <em>em</em> <code>code</code></p>',
    ],
    ['- a\n- b\n  1. c', '<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>'],
    ['3. a', '<ol start="3"><li>a</li></ol>'],
    ['- [x] a\n- [ ] b', '<ul><li>☑ a</li><li>☐ b</li></ul>'],
    ['- [x] a\n\n- [ ] b', '<ul><li><p>☑ a</p></li><li><p>☐ b</p></li></ul>'],
    [
      '| A | B |\n|---|---|\n| 1 | 2 |',
      '<table><thead><tr><th scope="col">A</th><th scope="col">B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
    ],
    ['```js\n<b>\n```', '<pre><code>&lt;b&gt;</code></pre>'],
    ['a &amp; b &lt; c', '<p>a &amp; b &lt; c</p>'],
    ['<p>A <b>b</b></p>', '<p>A <b>b</b></p>'],
    ['x <mark>y *z*</mark>', '<p>x <mark>y <em>z</em></mark></p>'],
    ['[a](javascript:alert(1))', '<p><span class="dead-link">a</span></p>'],
    ['<script>alert(1)</script>', ''],
    ['x <img src=x onerror=alert(1)>', '<p>x <img src="x" alt="" loading="lazy" /></p>'],
    ['<p onclick="a()" style="color:red" class="b">x</p>', '<p>x</p>'],
    ['<svg onload=alert(1)><circle/></svg>', '<p></p>'],
    ['<a href="java&#9;script:alert(1)">x</a>', '<p><span class="dead-link">x</span></p>'],
    ['<iframe src="https://x.example"></iframe>', ''],
  ])('shows %j', (markdown, expected) => expect(html(markdown).trim()).toBe(expected));

  it('makes no script, handler, style or foreign image of any text', () => {
    const piece = fc.constantFrom(
      '<script>',
      '</script>',
      '<img src=x onerror=a()>',
      '<svg/onload=a()>',
      '<style>',
      '</style>',
      '[x](javascript:a())',
      '![i](https://t.example/a.png)',
      '<a href=javascript:a()>',
      '</a>',
      '<b style=color:red onclick=a()>',
      '**',
      '`',
      '\n\n',
      '> ',
      '- ',
      '|',
      'word ',
      '<iframe srcdoc="<script>">',
      '<math>',
      '<template>',
      '<form action=x>',
      '<input autofocus onfocus=a()>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const fragment = previewOf(pieces.join(''));
        expect(
          fragment.querySelector('script, style, svg, iframe, math, template, form, input, object, embed'),
        ).toBeNull();
        for (const element of fragment.querySelectorAll('*')) {
          for (const { name, value } of element.attributes) {
            expect(name).not.toMatch(/^on|^style$/);
            if (name === 'href') expect(value).not.toMatch(/^\s*javascript/i);
            if (name === 'src') expect(value).not.toMatch(/^https?:/);
          }
        }
      }),
    );
  });
});

describe('tool bar of Markdown', () => {
  const state = (doc: string, anchor: number, head = anchor) =>
    EditorState.create({
      doc,
      selection: { anchor, head },
      extensions: EditorState.lineSeparator.of('\r\n'),
    });

  it('puts marks around words, and takes them away again', () => {
    const before = state('one two', 4, 7);
    const bold = before.update(toggleAround(before, '**')).state;
    expect(bold.sliceDoc()).toBe('one **two**');
    expect(bold.update(toggleAround(bold, '**')).state.sliceDoc()).toBe('one two');
  });

  it('marks lines and keeps line endings', () => {
    const before = state('one\r\ntwo\r\n', 0, 5);
    const list = before.update(toggleLines(before, (index) => `${String(index + 1)}. `)).state;
    expect(list.sliceDoc()).toBe('1. one\r\n2. two\r\n');
    expect(list.update(toggleLines(list, (index) => `${String(index + 1)}. `)).state.sliceDoc()).toBe(
      'one\r\ntwo\r\n',
    );
    const block = before.update(insertBlock(before, '| A |\n|---|')).state;
    expect(block.sliceDoc()).toBe('one\r\n\r\n| A |\r\n|---|\r\n\r\ntwo\r\n');
    const link = before.update(insert(before, '[text](url)')).state;
    expect(link.selection.main.head).toBe(before.selection.main.from + '[text](url)'.length);
  });
});
