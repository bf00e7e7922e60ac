// Live updates: changes on the server make cached responses stale, and open screens are notified. Both happen at
// most once a second.
import { joinSharedStream, type LiveMessage } from '../api/shared-stream';
import type { Change, Presence } from '../api/change-feed';
import { loadSession } from '../session/session.svelte';
import { queries } from './queries';

/** Gets each change, or null when any may have been missed. */
type Listener = (change: Change | null) => void;

const listeners = new Set<Listener>();
let connected = $state(false);
let hasTried = $state(false);
let present: Presence[] = $state.raw([]);

export const live = {
  /** Changes arrive immediately. */
  get connected(): boolean {
    return connected;
  },
  /** The first connection has succeeded or failed, so `connected` is known. */
  get tried(): boolean {
    return hasTried;
  },
};

/** Other tabs with the same object open. */
export function presentOn(type: string, id: string, ownTab: string): Presence[] {
  return present.filter((item) => item.contentType === type && item.id === id && item.tab !== ownTab);
}

/** Calls `listener` with each change; returns how to stop. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const MIN_REFRESH_INTERVAL_MS = 1000;
/** Queries over all types: every change makes them stale. */
const ALL_TYPE_QUERIES = new Set(['home', 'schedule', 'counts']);

/** Query keys of lists that are not refreshed automatically: they show the number of pending changes instead. */
const LISTS_WITH_PENDING_CHANGES = new Set(['list', 'activity', 'trash', 'search']);

let pendingChanges: Change[] = [];
let missed = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastRefreshAt = 0;

function scheduleRefresh(): void {
  timer ??= setTimeout(refresh, Math.max(0, lastRefreshAt + MIN_REFRESH_INTERVAL_MS - Date.now()));
}

function refresh(): void {
  timer = undefined;
  lastRefreshAt = Date.now();
  const changes = pendingChanges;
  const all = missed;
  pendingChanges = [];
  missed = false;
  const types = new Set(changes.map((change) => change.contentType));
  if (all || changes.some((change) => change.action.startsWith('type.'))) void loadSession();
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => {
      const [area] = queryKey;
      if (LISTS_WITH_PENDING_CHANGES.has(String(area))) return false;
      if (all || ALL_TYPE_QUERIES.has(String(area))) return true;
      if (area === 'media') return types.has('_media');
      return queryKey.some((part) => typeof part === 'string' && types.has(part));
    },
  });
  // A change without an object id is one of the type, which may have changed all of its objects.
  const stale = all || changes.some((change) => change.id === null);
  for (const listener of listeners) {
    for (const change of changes) listener(change);
    if (stale) listener(null);
  }
}

function receive(message: LiveMessage): void {
  if (message.kind === 'state') {
    connected = message.live;
    hasTried = true;
    present = [];
  } else if (message.kind === 'presence') {
    const { presence } = message;
    const others = present.filter((item) => item.tab !== presence.tab);
    present = presence.ended ? others : [...others, presence];
  } else if (message.kind === 'changes') {
    pendingChanges.push(...message.changes);
    scheduleRefresh();
  } else if (message.kind === 'stale') {
    missed = true;
    scheduleRefresh();
  }
}

/** Starts for a user; returns how to stop. */
export function startLive(user: string): () => void {
  const stop = joinSharedStream(user, receive);
  return () => {
    stop();
    clearTimeout(timer);
    timer = undefined;
    pendingChanges = [];
    missed = false;
    connected = false;
    hasTried = false;
    present = [];
  };
}
