// The name of this browser tab, which survives a reload, and whether other tabs are open. A tab holds a
// lock with its name as long as it lives.
import { uuid } from '../value/uuid';

const STORAGE_KEY = 'cms.tab';
const LOCK_PREFIX = 'cms-tab-';

function storedName(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

/** Takes the lock of a name for the life of this page; false when another tab has it. */
function hold(name: string): Promise<boolean> {
  return new Promise((done) => {
    void navigator.locks.request(LOCK_PREFIX + name, { ifAvailable: true }, (lock) => {
      done(lock !== null);
      return lock === null ? undefined : new Promise<never>(() => undefined);
    });
  });
}

async function chooseName(): Promise<string> {
  const stored = storedName();
  let name = stored ?? uuid();
  // Locks exist on pages loaded over HTTPS or from this machine. A duplicated tab has the name of its
  // original, which holds the lock.
  if ('locks' in navigator && !(await hold(name))) {
    name = uuid();
    await hold(name);
  }
  try {
    sessionStorage.setItem(STORAGE_KEY, name);
  } catch {
    // Without storage the name lasts as long as the page.
  }
  return name;
}

let name: Promise<string> | undefined;

export function tabName(): Promise<string> {
  return (name ??= chooseName());
}

/** The tabs of this browser that are open now. */
export interface OpenTabs {
  own: string;
  others: Set<string>;
}

export async function openTabs(): Promise<OpenTabs> {
  const own = await tabName();
  if (!('locks' in navigator)) return { own, others: new Set() };
  const { held = [] } = await navigator.locks.query();
  const names = held.map((lock) => lock.name ?? '').filter((lock) => lock.startsWith(LOCK_PREFIX));
  return {
    own,
    others: new Set(names.map((lock) => lock.slice(LOCK_PREFIX.length)).filter((tab) => tab !== own)),
  };
}
