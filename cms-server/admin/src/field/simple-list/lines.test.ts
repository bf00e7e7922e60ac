import { describe, expect, it } from 'vitest';
import { pastedLines, withPaste } from './lines';

describe('pasting into a simple list', () => {
  it.each([
    ['one', ['one']],
    ['one\ntwo\r\nthree\rfour', ['one', 'two', 'three', 'four']],
    ['\n one \n\n two\n', ['one', 'two']],
    ['- one\n- two', ['one', 'two']],
    ['1. one\n2) two', ['one', 'two']],
    ['- one\ntwo', ['- one', 'two']],
    ['', []],
  ])('makes items of %j', (text, expected) => {
    expect(pastedLines(text)).toEqual(expected);
  });

  it('keeps the text around the caret', () => {
    expect(withPaste('ab', 'cd', ['1', '2', '3'])).toEqual(['ab1', '2', '3cd']);
    expect(withPaste('ab', 'cd', ['1'])).toEqual(['ab1cd']);
    expect(withPaste('ab', 'cd', [])).toEqual(['abcd']);
  });
});
