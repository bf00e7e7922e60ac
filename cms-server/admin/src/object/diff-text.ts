// Differences of plain texts by words. Knows no content type.
import { diffArrays } from 'diff';

export interface TextPart {
  change: 'same' | 'added' | 'removed';
  text: string;
}

/** If comparing takes longer, the texts are too different to be shown word by word. */
const TIMEOUT_MS = 300;
/** Longer texts are cut at white space, which is faster than by the rules of the language. */
const MAX_SEGMENTED_CHARS = 200_000;

function wordsOf(text: string): string[] {
  if (text.length > MAX_SEGMENTED_CHARS) return text.split(/(\s+)/).filter((word) => word !== '');
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** What was removed from `before` and added in `after`, word by word. */
export function diffWords(before: string, after: string): TextPart[] {
  if (before === after) return before === '' ? [] : [{ change: 'same', text: before }];
  const changes = diffArrays(wordsOf(before), wordsOf(after), { timeout: TIMEOUT_MS });
  if (!changes)
    return parts([
      { change: 'removed', text: before },
      { change: 'added', text: after },
    ]);
  return parts(
    changes.map(({ added, removed, value }) => ({
      change: added ? 'added' : removed ? 'removed' : 'same',
      text: value.join(''),
    })),
  );
}

/**
 * Joins neighbours of one kind. White space between two changes belongs to both: `red hat` to `blue cap`
 * is one change of two words, not two changes.
 */
function parts(raw: TextPart[]): TextPart[] {
  const result: TextPart[] = [];
  let removed = '';
  let added = '';
  const flush = () => {
    if (removed !== '') result.push({ change: 'removed', text: removed });
    if (added !== '') result.push({ change: 'added', text: added });
    removed = added = '';
  };
  raw.forEach((part, index) => {
    if (part.change === 'removed') removed += part.text;
    else if (part.change === 'added') added += part.text;
    else if (part.text.trim() === '' && removed !== '' && added !== '' && index < raw.length - 1) {
      removed += part.text;
      added += part.text;
    } else {
      flush();
      result.push(part);
    }
  });
  flush();
  return result;
}

/** How much two texts have in common, from 0 to 1: the share of equal words. */
export function similarity(before: string, after: string): number {
  if (before === after) return 1;
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const [a, b] = [words(before), words(after)];
  if (a.length === 0 || b.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of b) {
    const left = counts.get(word) ?? 0;
    if (left > 0) common += 1;
    counts.set(word, left - 1);
  }
  return (2 * common) / (a.length + b.length);
}
