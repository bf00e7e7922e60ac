import fc from 'fast-check';
import { EditorState } from '@codemirror/state';
import { describe, expect, it } from 'vitest';
import { separatorOf } from './code';
import { parseJson, showJson } from './json';

describe('source', () => {
  it('shows every JSON value so that reading it gives the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(parseJson(showJson(stored))).toEqual(stored);
      }),
    );
  });

  it('keeps a text that is not JSON yet', () => {
    expect(showJson(parseJson('{"a": '))).toBe('{"a": ');
    expect(parseJson('  ')).toBeUndefined();
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
