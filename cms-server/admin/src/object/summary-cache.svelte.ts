// The cache of object summaries, for links. Summaries that are requested in the same tick are read with one
// request.
import { SvelteMap } from 'svelte/reactivity';
import { targetKey, type Target } from '../value/link';
import { partsOf } from '../value/list';
import { IDS_PER_REQUEST } from './links';
import { findSummaries, readSummaries, type Summary } from './summary';

/** A summary, `missing` when there is no such object, `unknown` when it could not be read. */
export type CachedSummary = Summary | 'missing' | 'unknown';

const MAX_AGE_MS = 30_000;
const IDS_PER_SEARCH = 50;

const cache = new SvelteMap<string, CachedSummary>();
const readAt = new Map<string, number>();
let waiting: Target[] = [];

/** What is known of a target now; undefined while it is read. */
export function cachedSummary(target: Target): CachedSummary | undefined {
  return cache.get(targetKey(target));
}

/** The title of a target, or its id until the title is known; `otherwise` if there is no target. */
export function titleOfTarget(target: Target | null, otherwise: string): string {
  const known = target && cachedSummary(target);
  return known && typeof known === 'object' ? known.title : (target?.id ?? otherwise);
}

/** Notes what a search or a save has returned. */
export function cacheSummary(summary: Summary): void {
  const key = targetKey(summary);
  cache.set(key, summary);
  readAt.set(key, Date.now());
}

/** Reads the targets that are not known, or were read a while ago. */
export function requestSummaries(targets: Target[]): void {
  const now = Date.now();
  const old = targets.filter((target) => now - (readAt.get(targetKey(target)) ?? 0) > MAX_AGE_MS);
  if (old.length === 0) return;
  for (const target of old) readAt.set(targetKey(target), now);
  if (waiting.length === 0) queueMicrotask(() => void read());
  waiting.push(...old);
}

async function read(): Promise<void> {
  const targets = waiting;
  waiting = [];
  const isMixed = new Set(targets.map(({ type }) => type)).size > 1;
  const summaries = isMixed && targets.length <= IDS_PER_SEARCH ? await findSummaries(targets) : [];
  summaries.forEach(cacheSummary);
  const found = new Set(summaries.map(targetKey));
  const byType = new Map<string, string[]>();
  for (const target of targets) {
    if (found.has(targetKey(target))) continue;
    byType.set(target.type, [...(byType.get(target.type) ?? []), target.id]);
  }
  await Promise.all(
    [...byType].flatMap(([type, ids]) => partsOf(ids, IDS_PER_REQUEST).map((part) => readPart(type, part))),
  );
}

async function readPart(type: string, ids: string[]): Promise<void> {
  const result = await readSummaries(type, ids);
  const gone = new Set(ids.map((id) => targetKey({ type, id })));
  if ('problem' in result) {
    for (const key of gone) {
      const { status } = result.problem;
      // What may not be read any more is not shown any more; after another failure the last title stays.
      if (status === 403 || status === 404 || !cache.has(key))
        cache.set(key, status === 404 ? 'missing' : 'unknown');
      readAt.delete(key);
    }
    return;
  }
  for (const summary of result.data) {
    cacheSummary(summary);
    gone.delete(targetKey(summary));
  }
  for (const key of gone) cache.set(key, 'missing');
}
