// Differences of two lists by best match: which item stayed, changed, moved, was added or removed.
import { diffArrays } from 'diff';

export interface Match<T> {
  change: 'same' | 'changed' | 'moved' | 'added' | 'removed';
  before?: T;
  after?: T;
}

interface Rules<T> {
  /** Equal items have the same key. */
  keyOf: (item: T) => string;
  /** From 0 to 1; items below `MIN_SIMILARITY` are different items. */
  similarity: (before: T, after: T) => number;
  /** Whether an item at another place is the same item, moved. False for lines of a text. */
  moves: boolean;
}

const MIN_SIMILARITY = 0.4;
/** With more unmatched items than this, finding the best match takes too long. */
const MAX_COMPARED_ITEMS = 150;
const TIMEOUT_MS = 300;

/** Items of both lists, in the order of `after`; removed items stand where they were. */
export function matchLists<T>(before: T[], after: T[], rules: Rules<T>): Match<T>[] {
  // Index in `after` -> index in `before`.
  const partners = new Map<number, number>();
  matchEqual(before.map(rules.keyOf), after.map(rules.keyOf), rules.moves, partners);
  matchSimilar(before, after, rules, partners);
  const stayed = longestIncreasing([...partners].sort(([a], [b]) => a - b));
  if (!rules.moves) for (const index of partners.keys()) if (!stayed.has(index)) partners.delete(index);

  const matches: Match<T>[] = [];
  const taken = new Set(partners.values());
  let next = 0;
  const removedUntil = (end: number) => {
    for (; next < end; next += 1) {
      const item = before[next];
      if (!taken.has(next) && item !== undefined) matches.push({ change: 'removed', before: item });
    }
  };
  after.forEach((item, index) => {
    const partner = partners.get(index);
    const old = partner === undefined ? undefined : before[partner];
    if (partner === undefined || old === undefined) {
      matches.push({ change: 'added', after: item });
      return;
    }
    if (stayed.has(index)) removedUntil(partner);
    const equal = rules.keyOf(old) === rules.keyOf(item);
    const change = !stayed.has(index) ? 'moved' : equal ? 'same' : 'changed';
    matches.push({ change, before: old, after: item });
  });
  removedUntil(before.length);
  return matches;
}

/** Pairs of equal items: first those in the same order, then moved ones. */
function matchEqual(before: string[], after: string[], moves: boolean, partners: Map<number, number>): void {
  const changes = diffArrays(before, after, { timeout: TIMEOUT_MS }) ?? [];
  let [from, to] = [0, 0];
  for (const { added, removed, count } of changes) {
    if (!added && !removed) for (let i = 0; i < count; i += 1) partners.set(to + i, from + i);
    if (!added) from += count;
    if (!removed) to += count;
  }
  if (!moves && changes.length > 0) return;
  const taken = new Set(partners.values());
  const places = new Map<string, number[]>();
  before.forEach((key, index) => {
    if (!taken.has(index)) places.set(key, [...(places.get(key) ?? []), index]);
  });
  after.forEach((key, index) => {
    const place = partners.has(index) ? undefined : places.get(key)?.shift();
    if (place !== undefined) partners.set(index, place);
  });
}

/** Pairs of items that differ, the most similar ones first. */
function matchSimilar<T>(before: T[], after: T[], rules: Rules<T>, partners: Map<number, number>): void {
  const taken = new Set(partners.values());
  const lost = before.flatMap((item, index) => (taken.has(index) ? [] : [{ item, index }]));
  const found = after.flatMap((item, index) => (partners.has(index) ? [] : [{ item, index }]));
  if (lost.length > MAX_COMPARED_ITEMS || found.length > MAX_COMPARED_ITEMS) return;
  const pairs = found.flatMap((to) =>
    lost.map((from) => ({ from: from.index, to: to.index, score: rules.similarity(from.item, to.item) })),
  );
  pairs.sort((a, b) => b.score - a.score || Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
  for (const { from, to, score } of pairs) {
    if (score < MIN_SIMILARITY || taken.has(from) || partners.has(to)) continue;
    partners.set(to, from);
    taken.add(from);
  }
}

/** The keys of the longest increasing subsequence of the values: these items did not move. */
function longestIncreasing(pairs: [number, number][]): Set<number> {
  // `tails[n]`: index of the pair with the smallest value that ends an increasing subsequence of n + 1 pairs.
  const tails: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, value], index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  });
  const kept = new Set<number>();
  for (let index = tails.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair) kept.add(pair[0]);
  }
  return kept;
}
