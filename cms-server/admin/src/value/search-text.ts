// What people type into a search field, as a query of the search language. Sends no requests.

/** Characters and words that only a writer of queries uses. */
const OPERATORS = /["()[\]{}*?~^<>\\]|(^|\s)[+-]\S|\b(AND|OR|NOT)\b|\w:\S/;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Writing systems without spaces: the server finds their runs as phrases. */
const UNSPACED_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAX_WORDS = 20;
const MAX_PATTERN_CHARS = 90;
/** The limit of the API for words with `*`, times the searched properties. */
const MAX_PATTERNS = 128;

/** The query for a text in a number of properties. A text with operators is a query already. */
export function queryFor(text: string, fields = 1): string {
  if (text.trim() !== '' && OPERATORS.test(text)) return text.trim();
  return wordsQuery(text, fields) ?? text.trim();
}

/**
 * The query for the words of a text in a number of properties: all of them must occur, and complete words rank before
 * words that only begin with them. In many properties, only the last words may be beginnings of words. `*` for no text,
 * null when nothing can match.
 */
export function wordsQuery(text: string, fields = 1): string | null {
  if (text.trim() === '') return '*';
  const words = searchWords(text);
  const complete = words.length - Math.floor(MAX_PATTERNS / fields);
  return words.length === 0 ? null : words.map((word, index) => required(word, index < complete)).join(' ');
}

/** The words of a text that are searched. */
export function searchWords(text: string): string[] {
  return (text.normalize('NFC').match(WORD) ?? []).slice(0, MAX_WORDS);
}

export function isUnspaced(word: string): boolean {
  return UNSPACED_SCRIPTS.test(word);
}

function required(word: string, isComplete: boolean): string {
  if (isUnspaced(word) || word.length > MAX_PATTERN_CHARS) return `+"${word}"`;
  // In capitals, the word would be an operator.
  const plain = /^(AND|OR|NOT)$/.test(word) ? word.toLowerCase() : word;
  return isComplete ? `+${plain}` : `+(${plain} OR ${plain}*)`;
}

/** A text as a phrase of the query language. */
export function phrase(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A query for a complete value, as a range of one value: a phrase would also be found in longer texts. */
export function exactValue(value: string | number | boolean): string {
  if (typeof value === 'boolean') return String(value);
  const bound = typeof value === 'number' ? String(value) : phrase(value).replace(/(?<= )TO(?= )/g, '\\TO');
  return `[${bound} TO ${bound}]`;
}

/** `post: kettle`: the part before the colon, when it names something known, and the rest. */
export function splitPrefix<T>(
  text: string,
  known: (name: string) => T | undefined,
): { scope: T | undefined; rest: string } {
  const at = text.indexOf(':');
  const scope = at > 0 ? known(text.slice(0, at).trim()) : undefined;
  return scope === undefined
    ? { scope: undefined, rest: text.trim() }
    : { scope, rest: text.slice(at + 1).trim() };
}
