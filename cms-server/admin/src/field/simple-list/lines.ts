// Texts of a simple list, one per line.

/** The lines of a pasted text, without empty lines and without the bullets of a copied list. */
export function pastedLines(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trimEnd());
  const bulleted = lines.filter((line) => line.trim() !== '').every((line) => BULLET.test(line));
  const plain = bulleted ? lines.map((line) => line.replace(BULLET, '')) : lines;
  return plain.map((line) => line.trim()).filter((line) => line !== '');
}

const BULLET = /^\s*(?:[-*•–]|\d+[.)])\s+/;

/** Pasted lines; the first one begins with the text before the caret, the last one ends with the text after it. */
export function withPaste(before: string, after: string, lines: string[]): string[] {
  if (lines.length === 0) return [before + after];
  const result = [...lines];
  result[0] = before + (result[0] ?? '');
  result[result.length - 1] = (result.at(-1) ?? '') + after;
  return result;
}
