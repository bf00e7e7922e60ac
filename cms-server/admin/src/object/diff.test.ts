import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../type/test-fields';
import { htmlBlocks } from './diff-blocks';
import { matchLists } from './diff-list';
import { diffWords, type TextPart } from './diff-text';
import { diffObjects, diffValue, linksOf } from './diff';

const side = (parts: TextPart[], excluded: TextPart['change']) =>
  parts
    .filter((part) => part.change !== excluded)
    .map((part) => part.text)
    .join('');

describe('words', () => {
  it('keeps every character of both texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
        const parts = diffWords(before, after);
        expect(side(parts, 'added')).toBe(before);
        expect(side(parts, 'removed')).toBe(after);
      }),
    );
  });
  it('shows one changed word', () => {
    expect(diffWords('The ten o’clock boat leaves', 'The ten o’clock ferry leaves')).toEqual([
      { change: 'same', text: 'The ten o’clock ' },
      { change: 'removed', text: 'boat' },
      { change: 'added', text: 'ferry' },
      { change: 'same', text: ' leaves' },
    ]);
  });
  it('joins changes that only white space separates', () => {
    expect(diffWords('a red hat', 'a blue cap').map((part) => part.text)).toEqual([
      'a ',
      'red hat',
      'blue cap',
    ]);
  });
});

describe('lists', () => {
  const rules = { keyOf: String, similarity: () => 0, moves: true };
  it('has every item of both lists once', () => {
    const lists = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'));
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const matches = matchLists(before, after, rules);
        expect(matches.flatMap((m) => (m.after === undefined ? [] : [m.after]))).toEqual(after);
        expect(matches.flatMap((m) => (m.before === undefined ? [] : [m.before])).sort()).toEqual(
          before.toSorted(),
        );
      }),
    );
  });
  it('marks only the item that changed its place as moved', () => {
    const matches = matchLists(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c'], rules);
    expect(matches.map((m) => m.change)).toEqual(['moved', 'same', 'same', 'same']);
  });
  it('shows a removed item where it was', () => {
    const matches = matchLists(['a', 'b', 'c'], ['a', 'c', 'x'], rules);
    expect(matches.map((m) => `${m.change} ${m.after ?? m.before ?? ''}`)).toEqual([
      'same a',
      'removed b',
      'same c',
      'added x',
    ]);
  });
});

describe('properties', () => {
  it('lists only those that differ, in the order of the form', () => {
    const fields = [fieldNamed('title'), fieldNamed('price', { kind: 'number' }), fieldNamed('note')];
    const found = diffObjects(
      fields,
      { title: 'A', price: 1, note: 'n', old: 1 },
      { price: 2, title: 'A', note: 'n' },
    );
    expect(found.map(({ name, change }) => [name, change])).toEqual([
      ['price', 'changed'],
      ['old', 'removed'],
    ]);
    expect(found[0]?.diff).toEqual({ kind: 'values', before: '1', after: '2' });
  });
  it('shows a number as it is stored, not in parts', () => {
    const diff = diffValue(fieldNamed('price', { kind: 'number' }), 12.5, 13.5);
    expect(diff).toEqual({ kind: 'values', before: '12.5', after: '13.5' });
  });
  it('names the option instead of its value', () => {
    const field = fieldNamed('size', { kind: 'radio', options: [{ value: '1', label: 'small' }] });
    expect(diffValue(field, '1', undefined)).toEqual({ kind: 'values', before: 'small', after: null });
  });
  it('compares Markdown line by line', () => {
    const diff = diffValue(
      fieldNamed('text', { kind: 'markdown' }),
      '# Tide\n\nold line',
      '# Tide\n\nnew line\n',
    );
    expect(diff.kind === 'blocks' && diff.blocks.map((block) => block.change)).toEqual([
      'same',
      'same',
      'changed',
      'added',
    ]);
  });
  it('compares rich text block by block', () => {
    const diff = diffValue(
      fieldNamed('text', { kind: 'richtext' }),
      '<h2>Tide</h2><p>The mill is old.</p><p>Gone</p>',
      '<h2>Tide</h2><p>The mill is <b>very</b> old.</p>',
    );
    expect(diff.kind === 'blocks' && diff.blocks.map((block) => `${block.change} ${block.label}`)).toEqual([
      'same h2',
      'changed p',
      'removed p',
    ]);
  });
  it('reports when only markup changed', () => {
    const diff = diffValue(fieldNamed('text', { kind: 'richtext' }), '<p>Hello</p>', '<p><b>Hello</b></p>');
    expect(diff.kind === 'blocks' && diff.blocks[0]?.onlyMarkup).toBe(true);
  });
  it('recognises a list item that was edited and moved', () => {
    const field = fieldNamed('hours', { kind: 'object', fields: [fieldNamed('day'), fieldNamed('open')] });
    const diff = diffValue(
      field,
      [
        { day: 'Monday', open: 'nine' },
        { day: 'Tuesday', open: 'ten' },
        { day: 'Friday', open: 'one' },
      ],
      [
        { day: 'Friday', open: 'two' },
        { day: 'Monday', open: 'nine' },
        { day: 'Tuesday', open: 'ten' },
      ],
    );
    expect(diff.kind === 'list' && diff.items.map((item) => item.change)).toEqual(['moved', 'same', 'same']);
  });
  it('names the links that it shows', () => {
    const links = (...ids: string[]) =>
      ids.map((id) => ({ type: 'internal', dataUrl: `/api/v1/content/author/${id}` }));
    const found = diffObjects(
      [fieldNamed('by', { kind: 'datasource' })],
      { by: links('a') },
      { by: links('a', 'b') },
    );
    expect(linksOf(found)).toEqual(['/api/v1/content/author/a', '/api/v1/content/author/b']);
  });
});

describe('HTML', () => {
  it('reads text, entities and images', () => {
    expect(
      htmlBlocks('<p>a &amp; b<br>c</p><ul><li>one</li><li><img alt="A boat" src="x"></li></ul>').map(
        (b) => b.text,
      ),
    ).toEqual(['a & b c', 'one', '[A boat]']);
  });
  it('never fails', () => {
    const piece = fc.constantFrom(
      '<p>',
      '</p>',
      '<',
      '>',
      '"',
      '&#x;',
      '&#99999999;',
      'text',
      '<!--',
      '<b a="',
      "'",
    );
    fc.assert(fc.property(fc.array(piece), (pieces) => Array.isArray(htmlBlocks(pieces.join('')))));
  });
});
