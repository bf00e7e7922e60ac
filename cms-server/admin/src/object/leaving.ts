// What happens to unsaved work at sign-out: it goes to the server, and leaves this browser.
import { keptWork } from './kept';
import { writeCopy } from './working-copy';

const hooks = new Set<() => Promise<void>>();

/** Calls `hook` before unsaved work is sent at sign-out: an open form stores what was typed. */
export function beforeSignOut(hook: () => Promise<void>): () => void {
  hooks.add(hook);
  return () => hooks.delete(hook);
}

/** Sends unsaved work to the server; the number of objects for which that failed. */
export async function sendAllWork(user: string): Promise<number> {
  for (const hook of hooks) await hook();
  let failed = 0;
  for (const { type, id, values, base, synced } of await keptWork(user)) {
    if (!synced && 'problem' in (await writeCopy(type, id, { values, base }))) failed += 1;
  }
  return failed;
}
