// Where the words of a search occur in a text: by their beginnings and without case, as the server compares words.
// Plain values.
import { isUnspaced, searchWords } from './search-text';

export interface TextPart {
  text: string;
  matched: boolean;
}

interface Range {
  start: number;
  end: number;
  /** The searched word, as it was typed. */
  word: string;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const CONTEXT_CHARS = 30;
const MAX_CHARS = 100;

function rangesOf(text: string, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const lower = found.toLowerCase();
    for (const word of words) {
      const at = lower.indexOf(word.toLowerCase());
      // A match begins a word; only in writing systems without spaces may it be any part of a run.
      if (at < 0 || (at > 0 && !isUnspaced(word))) continue;
      const end = isUnspaced(word) ? index + at + word.length : index + found.length;
      ranges.push({ start: index + at, end, word });
      break;
    }
  }
  return ranges;
}

/** Which words of a search occur in a text. */
export function wordsFound(text: string, search: string): Set<string> {
  return new Set(rangesOf(text, searchWords(search)).map(({ word }) => word));
}

/** The text around the first words that were found, with these marked; null when there are none. */
export function excerptOf(text: string, search: string): TextPart[] | null {
  const ranges = rangesOf(text, searchWords(search));
  const [first] = ranges;
  if (!first) return null;
  const from = first.start <= CONTEXT_CHARS ? 0 : wordStart(text, first.start - CONTEXT_CHARS, first.start);
  const to = Math.max(first.end, Math.min(text.length, from + MAX_CHARS));
  const parts: TextPart[] = [];
  let at = from;
  const add = (end: number, matched: boolean) => {
    if (end > at) parts.push({ text: text.slice(at, end), matched });
    at = end;
  };
  if (from > 0) parts.push({ text: '…', matched: false });
  for (const { start, end } of ranges) {
    if (start < at || end > to) continue;
    add(start, false);
    add(end, true);
  }
  add(to, false);
  if (to < text.length) parts.push({ text: '…', matched: false });
  return parts;
}

/** The start of a word between two places, so that no word is cut. */
function wordStart(text: string, from: number, to: number): number {
  const space = text.slice(from, to).search(/\s\S/);
  return space < 0 ? from : from + space + 1;
}
