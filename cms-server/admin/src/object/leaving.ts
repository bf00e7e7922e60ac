// What happens to unsaved work at sign-out: it goes to the server, and leaves this browser.
import { isEqual } from '../value/equal';
import { keptWork, type KeptWork } from './kept';
import { writeCopy } from './working-copy';

/** Stores what was typed; false when that failed. */
type Hook = () => Promise<boolean>;
const hooks = new Set<Hook>();

/** Calls `hook` before unsaved work is sent at sign-out: an open form stores what was typed. */
export function beforeSignOut(hook: Hook): () => void {
  hooks.add(hook);
  return () => hooks.delete(hook);
}

/** Sends unsaved work to the server; the number of objects for which that failed. */
export async function sendAllWork(user: string): Promise<number> {
  let failed = 0;
  for (const hook of hooks) if (!(await hook())) failed += 1;
  const objects = new Map<string, KeptWork[]>();
  for (const work of await keptWork(user)) {
    const key = JSON.stringify([work.type, work.id]);
    objects.set(key, [...(objects.get(key) ?? []), work]);
  }
  // The server has room for one working copy of an object: several tabs may have made more. The newest goes.
  for (const [newest, ...others] of objects.values()) {
    if (!newest) continue;
    const { type, id, values, base, synced } = newest;
    const lost = others.filter((work) => !isEqual(work.values, values)).length;
    failed += lost;
    if (synced && lost === 0) continue;
    if ('problem' in (await writeCopy(type, id, { values, base }))) failed += 1;
  }
  return failed;
}
