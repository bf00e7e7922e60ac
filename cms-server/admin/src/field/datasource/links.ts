// Values of a relation: a list of links, as stored. Links that the page does not understand are kept.
import { inserted } from '../../value/list';
import { addressOf, linkTo, targetKey, targetOf, type Link, type Target } from '../../value/link';

/** The stored links; a damaged value counts as none. */
export function linksOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function targetsOf(links: unknown[]): Target[] {
  return links.flatMap((link) => targetOf(link) ?? []);
}

/** Returns whether one of the links has the same object as `link`. Links to addresses may occur repeatedly. */
export function hasTarget(links: unknown[], link: unknown): boolean {
  const target = targetOf(link);
  return target !== null && targetsOf(links).some((other) => targetKey(other) === targetKey(target));
}

/** Adds objects behind the others, each once; a relation to one object keeps only the last one. */
export function added(links: unknown[], targets: Target[], many: boolean): unknown[] {
  const present = new Set(targetsOf(links).map(targetKey));
  const fresh = targets.filter((target) => {
    const key = targetKey(target);
    if (present.has(key)) return false;
    present.add(key);
    return true;
  });
  const newLinks: Link[] = fresh.map(({ type, id }) => linkTo(type, id));
  if (!many) return newLinks.length === 0 ? links : newLinks.slice(-1);
  return [...links, ...newLinks];
}

/**
 * A key for each link that stays when the order changes; equal links are told apart by a number. The keys of links
 * to addresses do not contain the address, which changes while it is typed.
 */
export function keysOf(links: unknown[]): string[] {
  const seen = new Map<string, number>();
  return links.map((link) => {
    const target = targetOf(link);
    const key = target ? targetKey(target) : addressOf(link) === null ? JSON.stringify(link) : 'address';
    const count = seen.get(key) ?? 0;
    seen.set(key, count + 1);
    return count === 0 ? key : `${key}#${String(count)}`;
  });
}

/**
 * Inserts an uploaded file at its place among the files of the same upload. `order` is the order in which they were
 * chosen: uploads may end in another order.
 */
export function addedInOrder(links: unknown[], file: Target, order: Target[]): unknown[] {
  const keys = links.map((link) => {
    const target = targetOf(link);
    return target && targetKey(target);
  });
  if (keys.includes(targetKey(file))) return links;
  const names = order.map(targetKey);
  const own = names.indexOf(targetKey(file));
  const later = keys.findIndex((key) => key !== null && names.indexOf(key) > own);
  const at = later < 0 ? links.length : later;
  return inserted(links, at, linkTo(file.type, file.id));
}
