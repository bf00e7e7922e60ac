import fc from 'fast-check';
import { EditorState } from '@codemirror/state';
import { describe, expect, it } from 'vitest';
import { separatorOf } from './code';
import { showJson, typedJson } from './json';

describe('source', () => {
  it('shows every JSON value so that reading it gives the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(typedJson(showJson(stored))).toEqual(stored);
      }),
    );
  });

  it('keeps a text that is not JSON yet', () => {
    expect(showJson(typedJson('{"a": '))).toBe('{"a": ');
    expect(typedJson('  ')).toBeUndefined();
  });

  it('keeps a text with a number that would be rounded', () => {
    for (const text of ['{"a": 12345678901234567891}', '[0.12345678901234567891]'])
      expect(showJson(typedJson(text))).toBe(text);
    expect(typedJson('{"12345678901234567891": "12345678901234567891", "b": 1.50e3}')).toEqual({
      '12345678901234567891': '12345678901234567891',
      b: 1500,
    });
  });

  it('shows stored digits as the string that they are', () => {
    expect(showJson('12345678901234567891')).toBe('"12345678901234567891"');
  });

  it('keeps the line endings of every text', () => {
    const text = fc
      .array(fc.constantFrom('a', '\n', '\r\n', '\r', '\u2028', ' '))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (stored) => {
        const state = EditorState.create({
          doc: stored,
          extensions: EditorState.lineSeparator.of(separatorOf(stored)),
        });
        expect(state.sliceDoc()).toBe(stored);
      }),
    );
  });
});
