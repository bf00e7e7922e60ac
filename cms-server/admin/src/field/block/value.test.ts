// @vitest-environment jsdom
import { readFileSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { splitBlock } from 'prosemirror-commands';
import { EditorState, TextSelection } from 'prosemirror-state';
import { describe, expect, it } from 'vitest';
import { blockIds } from './ids';
import { BlockText, isBlockValue, readBlocks, writeBlock, type BlockValue } from './value';

/** Every block text in the contents of the example site. */
function fixtureValues(): BlockValue[] {
  const folder = '../../fixtures/content';
  const values: BlockValue[] = [];
  const collect = (value: unknown) => {
    if (isBlockValue(value)) values.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const type of readdirSync(folder)) {
    for (const file of readdirSync(`${folder}/${type}`)) {
      if (!/^contentObject.*\.json$/.test(file)) continue;
      const lines = readFileSync(`${folder}/${type}/${file}`, 'utf8').split('\n');
      for (const line of lines) if (line !== '') collect(JSON.parse(line));
    }
  }
  return values;
}

const html = fc.constantFrom(
  '',
  'Plain',
  'A <b>b</b> <i>c</i>',
  '<mark class="cdx">m</mark>',
  'a&nbsp;b',
  'x<br>y',
  '<a href="/x">l</a>',
);
const odd = fc.constantFrom<unknown>('<div>block</div>', 5, null, '<p>a</p>', '<img src=x onerror=alert(1)>');
const text = fc.oneof({ weight: 5, arbitrary: html }, { weight: 1, arbitrary: odd });
const { items } = fc.letrec<{ items: unknown[]; item: unknown }>((tie) => ({
  item: fc.oneof(
    fc.record({ content: text, items: fc.oneof({ depthSize: 'small' }, fc.constant([]), tie('items')) }),
    text,
    fc.record({ content: text, meta: fc.constant({ checked: true }) }),
  ),
  items: fc.array(tie('item'), { maxLength: 3 }),
}));
const data = fc.oneof(
  fc.record({ type: fc.constant('paragraph'), data: fc.record({ text }) }),
  fc.record({
    type: fc.constant('header'),
    data: fc.record({ text, level: fc.integer({ min: 0, max: 7 }), anchor: html }),
  }),
  fc.record({
    type: fc.constant('list'),
    data: fc.record({ style: fc.constantFrom('ordered', 'unordered'), items }),
  }),
  fc.record({
    type: fc.constant('image'),
    data: fc.record({ url: html, caption: text, width: fc.nat() }, { requiredKeys: ['url'] }),
  }),
  fc.record({
    type: fc.constant('quote'),
    data: fc.record({ text, caption: text, alignment: html }, { requiredKeys: ['text'] }),
  }),
  fc.record({ type: fc.constant('warning'), data: fc.record({ title: text, message: text }) }),
  fc.record({ type: fc.constant('code'), data: fc.record({ code: fc.oneof(fc.string(), odd) }) }),
  fc.record({
    type: fc.constant('table'),
    data: fc.record(
      { withHeadings: fc.boolean(), content: fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 3 }) },
      { requiredKeys: ['content'] },
    ),
  }),
  fc.constant({ type: 'delimiter', data: [] }),
  fc.constant({ type: 'delimiter', data: {} }),
  fc.record({ type: fc.constant('youtubeEmbed'), data: fc.record({ url: html }) }),
  fc.record({ type: fc.constant('poll'), data: fc.jsonValue() }),
);
const block = fc
  .tuple(data, fc.string({ minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean())
  .map(([known, id, tuned, extra]) => ({
    id,
    ...known,
    ...(tuned ? { tunes: { alignmentTuneTool: { alignment: 'center' } } } : {}),
    ...(extra ? { other: [1] } : {}),
  }));
const anything = fc.oneof({ weight: 9, arbitrary: block }, { weight: 1, arbitrary: fc.jsonValue() });

describe('block text', () => {
  it('reads and writes every block of the example site unchanged', () => {
    const values = fixtureValues();
    expect(values.length).toBeGreaterThan(10);
    for (const value of values) {
      const doc = readBlocks(value.blocks);
      doc.forEach((node, _offset, index) => {
        expect(node.type.name).not.toBe('opaque');
        expect(writeBlock(node)).toEqual(value.blocks[index]);
        expect(JSON.stringify(writeBlock(node))).toBe(JSON.stringify(value.blocks[index]));
      });
      expect(new BlockText(value).valueOf(readBlocks(value.blocks))).toBe(value);
    }
  });

  it('keeps every value while nothing is edited', () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), (blocks) => {
        const value = { time: 1, blocks, version: '2.0.0' };
        const doc = readBlocks(blocks);
        doc.check();
        expect(new BlockText(value).valueOf(doc)).toBe(value);
      }),
    );
  });

  it('changes the edited block only, and the time', () => {
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 5 }), fc.nat(), (others, place) => {
        const at = place % (others.length + 1);
        const edited = { id: 'edited', type: 'paragraph', data: { text: 'old', more: 1 }, tunes: { a: 1 } };
        const blocks: unknown[] = [...others.slice(0, at), edited, ...others.slice(at)];
        const value = { time: '5', blocks, version: '2.0.0' };
        const read = new BlockText(value);
        const state = EditorState.create({ doc: read.original, plugins: [blockIds] });
        let pos = 1;
        for (let index = 0; index < at; index += 1) pos += state.doc.child(index).nodeSize;
        const after = state.apply(state.tr.insertText('very ', pos)).doc;
        const changed = { ...edited, data: { text: 'very old', more: 1 } };
        expect(read.valueOf(after, 9)).toEqual({
          ...value,
          time: '9',
          blocks: blocks.map((b) => (b === edited ? changed : b)),
        });
      }),
    );
  });

  it('gives the second half of a split block a new id, and writes no empty lines', () => {
    const value = {
      time: 1,
      blocks: [{ id: 'a', type: 'paragraph', data: { text: 'onetwo' } }],
      version: '2',
    };
    const read = new BlockText(value);
    let state = EditorState.create({ doc: read.original, plugins: [blockIds] });
    state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 4)));
    splitBlock(state, (tr) => (state = state.apply(tr)));
    const blocks = read.valueOf(state.doc)?.blocks;
    expect(blocks).toHaveLength(2);
    expect(blocks?.[0]).toMatchObject({ id: 'a', data: { text: 'one' } });
    expect(blocks?.[1]).toMatchObject({ type: 'paragraph', data: { text: 'two' } });
    expect(blocks?.[1]).not.toMatchObject({ id: 'a' });
    splitBlock(state, (tr) => (state = state.apply(tr)));
    expect(read.valueOf(state.doc)?.blocks).toHaveLength(2);
    expect(new BlockText(undefined).valueOf(state.doc)).toHaveProperty('version');
    expect(new BlockText(undefined).valueOf(readBlocks([]))).toBeUndefined();
  });

  it.each([
    [{ type: 'paragraph', data: { text: '<div>a</div>' } }],
    [{ type: 'header', data: { text: 5, level: 2 } }],
    [{ type: 'table', data: { content: [['a'], ['b', 'c']] } }],
    [{ type: 'poll', data: { question: 'x' } }],
    ['no block'],
  ])('keeps %j as an opaque node', (stored) => {
    expect(readBlocks([stored]).child(0).type.name).toBe('opaque');
  });
});
