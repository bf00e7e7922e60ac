// What people type into a search field, as a query of the search language. Knows no request.

/** Characters and words that only a writer of queries uses. */
const OPERATORS = /["()[\]{}*?~^<>\\]|(^|\s)[+-]\S|\b(AND|OR|NOT)\b|\w:\S/;

/**
 * The query for a text: all its words, the last one also as the beginning of a word, because it may not be
 * finished. A text with operators is a query already.
 */
export function queryFor(text: string): string {
  const words = text.trim().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return '*';
  if (OPERATORS.test(text)) return text.trim();
  const searched = words.filter((word) => /[\p{L}\p{N}]/u.test(word));
  const last = searched.pop();
  if (last === undefined) return text.trim();
  return [...searched.map((word) => `+${plain(word)}`), `+(${plain(last)} OR ${plain(last)}*)`].join(' ');
}

/** A word without the characters that separate words inside it at its ends: `kettle,` is `kettle`. */
function plain(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}

/** A text as a phrase of the query language. */
export function phrase(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
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
