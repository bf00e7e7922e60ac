// What happens to unsaved work at sign-out: it goes to the server, and leaves this browser.
import { isEqual } from '../value/equal';
import { keptWork, type KeptWork } from './kept';
import { ServerCopy } from './server-copy';

const hooks = new Set<() => Promise<void>>();

const texts = new Set<() => boolean>();

/** Announces a place with text of its own, which is stored nowhere while `holds` is true. */
export function announceText(holds: () => boolean): () => void {
  texts.add(holds);
  return () => texts.delete(holds);
}

/** Some text would be lost with the page. */
export function holdsText(): boolean {
  return [...texts].some((holds) => holds());
}

/** Calls `hook` before unsaved work is sent at sign-out: an open form stores what was typed. */
export function beforeSignOut(hook: () => Promise<void>): () => void {
  hooks.add(hook);
  return () => hooks.delete(hook);
}

/**
 * Sends unsaved work to the server; the number of works that are in this browser only. The server has room for
 * one work on each object: the newest, if no other device has put one there.
 */
export async function sendAllWork(user: string): Promise<number> {
  for (const hook of hooks) await hook();
  const newest = new Map<string, KeptWork>();
  let left = 0;
  for (const work of await keptWork(user)) {
    const { type, id, values, base, sent, synced } = work;
    const key = `${type}/${id}`;
    const before = newest.get(key);
    if (before) {
      if (!isEqual(before.values, values)) left += 1;
      continue;
    }
    newest.set(key, work);
    if (synced) continue;
    const written = await new ServerCopy(type, id, work.work, sent).write({ values, base });
    if (written !== 'stored') left += 1;
  }
  return left;
}
