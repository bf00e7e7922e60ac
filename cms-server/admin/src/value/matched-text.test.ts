import fc from 'fast-check';
import { expect, it } from 'vitest';
import { excerptOf, wordsFound } from './matched-text';

const marked = (text: string, search: string): string | undefined =>
  excerptOf(text, search)
    ?.map((part) => (part.matched ? `[${part.text}]` : part.text))
    .join('');

it('marks words by their beginnings, without case, with accents', () => {
  expect(marked('Crêpes of Élodie', 'élo crêpe')).toBe('[Crêpes] of [Élodie]');
  expect(marked('Crêpes of Élodie', 'crepe')).toBeUndefined();
  expect(marked('The boat leaves', 'oat')).toBeUndefined();
});

it('shows the text around the first word', () => {
  const text = `${'words '.repeat(50)}ferry ${'more '.repeat(50)}`;
  expect(marked(text, 'ferry')).toMatch(/^…words words .*\[ferry\] more .*…$/);
});

it('marks a part of a run in writing systems without spaces', () => {
  expect(marked('東京都庁舎', '京都')).toBe('東[京都]庁舎');
});

it('says which words are in a text', () => {
  expect(wordsFound('The slow kettle', 'slow boat')).toEqual(new Set(['slow']));
});

it('never changes the text that it shows', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, search) => {
      const shown = excerptOf(text, search)?.filter(({ text: part }) => part !== '…');
      if (shown) expect(text).toContain(shown.map((part) => part.text).join(''));
    }),
  );
});
