// Line ends of a text while it is edited: inputs of browsers have "\n" only.

const LINE_END = /\r\n?/g;

/** The text as a browser shows it. */
export function plainLines(text: string): string {
  return text.replace(LINE_END, '\n');
}

/** The stored text after an edit of `plainLines(stored)`: line ends outside of the edit stay as they are. */
export function withLineEnds(stored: string, edited: string): string {
  const changed = plainLines(edited);
  if (!stored.includes('\r')) return changed;
  const lines = plainLines(stored);
  const minLength = Math.min(lines.length, changed.length);
  let start = 0;
  while (start < minLength && lines[start] === changed[start]) start += 1;
  let end = 0;
  while (end < minLength - start && lines.at(-1 - end) === changed.at(-1 - end)) end += 1;
  const [lineEnd = '\n'] = /\r\n?|\n/.exec(stored) ?? [];
  const inserted = changed.slice(start, changed.length - end).replaceAll('\n', lineEnd);
  const tail = storedIndex(stored, lines.length - end);
  const text = stored.slice(0, storedIndex(stored, start)) + inserted + stored.slice(tail);
  // If the edit leaves a lone CR before a LF, the two would be read as one: then all line ends are rewritten.
  return plainLines(text) === changed ? text : changed.replaceAll('\n', lineEnd);
}

/** The index in the stored text that belongs to an index in its plain lines. */
function storedIndex(stored: string, index: number): number {
  let at = 0;
  for (let left = index; left > 0; left -= 1) at += stored[at] === '\r' && stored[at + 1] === '\n' ? 2 : 1;
  return at;
}
