// Sends unsaved work to the server before sign-out, which removes it from this browser.
import { isEqual } from '../value/equal';
import { listUnsavedWork, type UnsavedWork } from './unsaved-work-db';
import { OwnedWorkingCopy } from './owned-working-copy';

/** Stores what was typed; false when that failed. */
type Hook = () => Promise<boolean>;
const hooks = new Set<Hook>();

const texts = new Set<() => boolean>();

/** Registers an input outside of object forms. Its text is stored nowhere while `isUnsaved` returns true. */
export function registerUnsavedText(isUnsaved: () => boolean): () => void {
  texts.add(isUnsaved);
  return () => texts.delete(isUnsaved);
}

/** Returns whether a registered text would be lost with the page. */
export function hasUnsavedText(): boolean {
  return [...texts].some((isUnsaved) => isUnsaved());
}

let unstoredTypes = () => 0;

/** Registers the function that counts the edited types that this browser does not store. */
export function registerUnstoredTypes(count: () => number): void {
  unstoredTypes = count;
}

/** Number of edited types that would be lost with the page. */
export function countUnstoredTypes(): number {
  return unstoredTypes();
}

/** Calls `hook` before unsaved work is sent at sign-out: an open form stores what was typed. */
export function onBeforeSignOut(hook: Hook): () => void {
  hooks.add(hook);
  return () => hooks.delete(hook);
}

/**
 * Sends unsaved work to the server. Returns the number of failures: failed hooks, objects whose newest work was not
 * stored on the server, and older work on the same object with other values, which is not sent.
 */
export async function sendAllUnsavedWork(user: string): Promise<number> {
  let failed = 0;
  for (const hook of hooks) if (!(await hook())) failed += 1;
  const objects = new Map<string, UnsavedWork[]>();
  for (const work of await listUnsavedWork(user)) {
    const key = JSON.stringify([work.type, work.id]);
    objects.set(key, [...(objects.get(key) ?? []), work]);
  }
  // The server stores one working copy of an object, but several tabs may have stored work here. The newest is sent.
  for (const [newest, ...others] of objects.values()) {
    if (!newest) continue;
    const { type, id, values, base, workId, sentTag, synced } = newest;
    const lost = others.filter((work) => !isEqual(work.values, values)).length;
    failed += lost;
    if (synced && lost === 0) continue;
    // A copy of another device stays.
    const written = await new OwnedWorkingCopy(type, id, workId, sentTag).write({ values, base });
    if (written !== 'stored') failed += 1;
  }
  return failed;
}
