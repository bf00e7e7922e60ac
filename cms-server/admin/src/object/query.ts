// Search texts for pickers: every typed word must be the beginning of a word. Knows the query language of
// the API, no request.

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Writing systems without spaces: the server finds their runs as phrases. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAX_WORDS = 20;
const MAX_PATTERN = 90;

/** The query for a typed text; `*` for no text, null when nothing can match. */
export function prefixQuery(text: string): string | null {
  if (text.trim() === '') return '*';
  const words = (text.normalize('NFC').match(WORD) ?? []).slice(0, MAX_WORDS);
  if (words.length === 0) return null;
  return words.map((word) => (isPlain(word) ? `+${word}*` : `+"${word}"`)).join(' ');
}

function isPlain(word: string): boolean {
  return !UNSPACED.test(word) && word.length <= MAX_PATTERN;
}
