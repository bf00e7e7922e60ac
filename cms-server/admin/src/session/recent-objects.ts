// Objects that the user has opened in this browser, the last one first. Only types and ids are stored.
import type { Target } from '../value/link';
import { parsedJson } from '../value/json';
import { readLocal, writeLocal } from '../value/local-storage';
import { isRecord } from '../value/record';

const MAX_OBJECTS = 8;
const key = (user: string) => `cms.recent.${user}`;

export function recentObjects(user: string): Target[] {
  const stored = parsedJson(readLocal(key(user)) ?? '');
  return (Array.isArray(stored) ? stored : [])
    .filter(isRecord)
    .flatMap(({ type, id }) => (typeof type === 'string' && typeof id === 'string' ? [{ type, id }] : []))
    .slice(0, MAX_OBJECTS);
}

export function recordOpened(user: string, target: Target): void {
  const others = recentObjects(user).filter(({ type, id }) => type !== target.type || id !== target.id);
  writeLocal(key(user), JSON.stringify([target, ...others].slice(0, MAX_OBJECTS)));
}
