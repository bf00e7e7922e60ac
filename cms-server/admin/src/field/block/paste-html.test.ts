// @vitest-environment jsdom
import { EditorState } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../text/html';
import { pastePlugin } from '../prose/paste';
import { blockEditorConfig } from './block-editor';
import { BlockText, readBlocks } from './value';

function editor(types: string[] = []): EditorView {
  const plugins = [
    ...blockEditorConfig(types, () => undefined).plugins,
    pastePlugin(
      'block',
      () => undefined,
      () => false,
    ),
  ];
  return new EditorView(null, { state: EditorState.create({ doc: readBlocks([]), plugins }) });
}

/** The stored blocks after a paste: tables as rows, quotations as text and caption, other blocks as text or type. */
function pasted(html: string, types?: string[]): unknown[] {
  const view = editor(types);
  // jsdom has no ClipboardEvent.
  view.pasteHTML(html, new Event('paste') as ClipboardEvent);
  const blocks = new BlockText(undefined).valueOf(view.state.doc)?.blocks ?? [];
  return blocks.map((block) => {
    const { type, data } = block as { type: string; data: Record<string, unknown> };
    if (type === 'table') return data.withHeadings === true ? { headings: data.content } : data.content;
    if (type === 'quote') return { text: data.text, caption: data.caption ?? '' };
    return type === 'paragraph' ? data.text : type;
  });
}

const IMAGE = '<img src="/api/media/image/1" alt="">';

const tables: [name: string, html: string, blocks: unknown[]][] = [
  [
    'two paragraphs in a cell (Word)',
    `<html xmlns:o="urn:o"><head><style>p.Mso {margin:0}</style></head><body><!--StartFragment-->
      <table style="width:1pt"><tr><td><p>Name<o:p></o:p></p></td><td><p>Address</p></td><td><p>Phone</p></td></tr>
      <tr><td><p>Ann</p></td><td>
        <p>
          1 High St
        </p>
        <p><b>London</b></p>
      </td><td><p>555</p></td></tr></table><!--EndFragment--></body></html>`,
    [
      [
        ['Name', 'Address', 'Phone'],
        ['Ann', '1 High St<br><b>London</b>', '555'],
      ],
    ],
  ],
  [
    'colspan',
    '<table><tr><td colspan=2>A</td></tr><tr><td>B</td><td>C</td></tr></table>',
    [
      [
        ['A', ''],
        ['B', 'C'],
      ],
    ],
  ],
  [
    'colspan of a heading',
    '<table><thead><tr><th colspan=2>A</th></tr></thead><tr><td>B</td><td>C</td></tr></table>',
    [
      {
        headings: [
          ['A', ''],
          ['B', 'C'],
        ],
      },
    ],
  ],
  [
    'a short row',
    '<table><tr><td>A</td></tr><tr><td>B</td><td>C</td></tr></table>',
    [
      [
        ['A', ''],
        ['B', 'C'],
      ],
    ],
  ],
  [
    'rowspan',
    '<table><tr><td rowspan=2>A</td><td>B</td></tr><tr><td>C</td></tr></table>',
    [
      [
        ['A', 'B'],
        ['', 'C'],
      ],
    ],
  ],
  [
    'rowspan and colspan in the middle',
    '<table><tr><td>A<td rowspan=2 colspan=2>B<td>C</tr><tr><td>D<td>E</tr><tr><td>F<td>G<td>H<td>I</tr></table>',
    [
      [
        ['A', 'B', '', 'C'],
        ['D', '', '', 'E'],
        ['F', 'G', 'H', 'I'],
      ],
    ],
  ],
  [
    'spans over columns and rows that do not exist',
    '<table><tr><td colspan=99 rowspan=9>A</td></tr></table>',
    [[['A']]],
  ],
  [
    'a row of column widths (Excel)',
    '<table><tr><td colspan=2>A</td></tr><tr height=0><td width=1></td><td width=1></td></tr></table>',
    [[['A']]],
  ],
  [
    'a nested list',
    '<table><tr><td>A<ul><li>one</li><li>two<ol><li>three</li></ol></li></ul></td><td>B</td></tr></table>',
    [[['A<br>one<br>two<br>three', 'B']]],
  ],
  [
    'headings, code and quotations',
    '<table><tr><td><h2>A</h2><pre>x\ny\n</pre><blockquote><p>q</p></blockquote></td><td>B</td></tr></table>',
    [[['A<br>x<br>y<br>q', 'B']]],
  ],
  [
    'a link around blocks',
    '<table><tr><td><a href="/x"><p>A</p><p>B</p></a></td></tr></table>',
    [[['<a href="/x">A</a><br><a href="/x">B</a>']]],
  ],
  [
    'line breaks',
    '<table><tr><td>A<br>B<br></td><td><div>A</div><div><br></div><div>B</div></td><td><br></td></tr></table>',
    [[['A<br>B', 'A<br><br>B', '']]],
  ],
  [
    'a table in a cell',
    '<table><tr><td><table><tr><td>A</td><td>B</td></tr></table></td><td>C</td></tr></table>',
    [[['A<br>B', 'C']]],
  ],
  [
    'a caption and an image',
    `<table><caption>Cap</caption><tr><td>A${IMAGE}</td><td>B</td></tr></table>`,
    ['Cap', [['A', 'B']], 'image'],
  ],
];

const quotes: [name: string, html: string, blocks: unknown[]][] = [
  [
    'paragraphs',
    '<blockquote><p>q1</p><p>q2</p><p>q3</p></blockquote><p>after</p>',
    [{ text: 'q1<br>q2<br>q3', caption: '' }, 'after'],
  ],
  ['text', '<blockquote>q1</blockquote>', [{ text: 'q1', caption: '' }]],
  [
    'footer',
    '<blockquote><p>q1</p><p>q2</p><footer>Ann, <cite>Book</cite></footer></blockquote>',
    [{ text: 'q1<br>q2', caption: 'Ann, <cite>Book</cite>' }],
  ],
  [
    'cite as the last line',
    '<blockquote><p>q1</p><p>q2</p><p>— <cite>Ann</cite></p></blockquote>',
    [{ text: 'q1<br>q2', caption: 'Ann' }],
  ],
  [
    'cite in a sentence',
    '<blockquote><p>q1</p><p>I read <cite>Emma</cite></p></blockquote>',
    [{ text: 'q1<br>I read <cite>Emma</cite>', caption: '' }],
  ],
  [
    'a quotation in a quotation',
    '<blockquote><p>q1</p><blockquote><p>q2</p></blockquote></blockquote>',
    [{ text: 'q1<br>q2', caption: '' }],
  ],
  [
    'a table in a quotation',
    '<blockquote><p>q1</p><table><tr><td>A</td></tr></table></blockquote>',
    ['q1', [['A']]],
  ],
];

describe('pasted table keeps its columns', () => {
  it.each(tables)('%s', (_name, html, blocks) => expect(pasted(html)).toEqual(blocks));
});

describe('pasted quotation keeps its paragraphs', () => {
  it.each(quotes)('%s', (_name, html, blocks) => expect(pasted(html)).toEqual(blocks));
});

describe('pasted HTML', () => {
  it('becomes paragraphs where the block is not allowed', () => {
    const html =
      '<table><tr><td><p>A</p><p>B</p></td></tr></table><blockquote><p>q1</p><p>q2</p></blockquote>';
    expect(pasted(html, ['paragraph'])).toEqual(['A', 'B', 'q1', 'q2']);
  });

  it('of another block editor keeps the caption of a quotation', () => {
    const source = editor();
    const quote = { type: 'quote', data: { text: 'a<br>b', caption: 'c' } };
    const { content } = readBlocks([quote, quote]);
    source.dispatch(source.state.tr.replaceWith(0, source.state.doc.content.size, content));
    const { dom } = source.serializeForClipboard(source.state.doc.slice(0, content.size));
    expect(pasted([...dom.childNodes].map(sourceOf).join(''))).toEqual([
      { text: 'a<br>b', caption: 'c' },
      { text: 'a<br>b', caption: 'c' },
    ]);
  });
});
