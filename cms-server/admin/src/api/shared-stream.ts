// One event stream per browser: the tab that holds a lock reads it and passes everything to the others.
// Where locks do not exist (a page without HTTPS), each visible tab reads a stream of its own, and hidden tabs read
// none: they would use up the connections that a browser opens to a server.
import { readChanges, readEventStream, type Change, type Presence } from './change-feed';

export type LiveMessage =
  | { kind: 'changes'; changes: Change[] }
  | { kind: 'presence'; presence: Presence }
  /** Changes may have been missed: everything is stale. */
  | { kind: 'stale' }
  /** A stream starts or has ended. Earlier presences are no longer valid: the open ones follow. */
  | { kind: 'state'; live: boolean }
  /** The position of the stream: another tab continues there when this one closes. */
  | { kind: 'position'; position: string }
  /** A new tab asks for the state and the open tabs. */
  | { kind: 'hello' };

const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000];
const POLL_MS = 30_000;

/** Joins the shared stream of a user; returns a function that leaves it. */
export function joinSharedStream(user: string, receive: (message: LiveMessage) => void): () => void {
  const stop = new AbortController();
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(`cms-live-${user}`) : null;
  const send = (message: LiveMessage) => {
    receive(message);
    channel?.postMessage(message);
  };
  let latest: string | null = null;
  if (channel) {
    channel.onmessage = (event: MessageEvent<LiveMessage>) => {
      if (event.data.kind === 'position') latest = event.data.position;
      else receive(event.data);
    };
    channel.postMessage({ kind: 'hello' } satisfies LiveMessage);
  }
  if ('locks' in navigator) {
    navigator.locks
      .request(`cms-live-${user}`, { signal: stop.signal }, () => lead(send, channel, latest, stop.signal))
      // Rejected if the tab leaves before it gets the lock.
      .catch(() => undefined);
  } else void leadWhileVisible(send, channel, stop.signal);
  return () => {
    stop.abort();
    channel?.close();
  };
}

async function leadWhileVisible(
  send: (message: LiveMessage) => void,
  channel: BroadcastChannel | null,
  stop: AbortSignal,
): Promise<void> {
  let position: string | null = null;
  for (await visibility('visible', stop); !stop.aborted; await visibility('visible', stop)) {
    const hidden = new AbortController();
    void visibility('hidden', stop).then(() => hidden.abort());
    position = await lead(send, channel, position, hidden.signal);
  }
}

/** Resolves when the tab is in this state, or is stopped. */
function visibility(state: DocumentVisibilityState, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const check = () => {
      if (document.visibilityState !== state && !stop.aborted) return;
      document.removeEventListener('visibilitychange', check);
      stop.removeEventListener('abort', check);
      done();
    };
    document.addEventListener('visibilitychange', check);
    stop.addEventListener('abort', check);
    check();
  });
}

/** Reads the feed until `signal` is aborted: as a stream, else by polling every 30 s. Returns the last position. */
async function lead(
  send: (message: LiveMessage) => void,
  channel: BroadcastChannel | null,
  start: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  let position = start;
  /** Null until the first connection succeeds or fails. */
  let live: boolean | null = null;
  let failures = 0;
  const open = new Map<string, Presence>();
  const setLive = (now: boolean) => {
    live = now;
    send({ kind: 'state', live: now });
  };
  const respond = (event: MessageEvent<LiveMessage>) => {
    if (event.data.kind !== 'hello') return;
    if (live !== null) channel?.postMessage({ kind: 'state', live } satisfies LiveMessage);
    if (position !== null) channel?.postMessage({ kind: 'position', position } satisfies LiveMessage);
    for (const presence of open.values()) {
      channel?.postMessage({ kind: 'presence', presence } satisfies LiveMessage);
    }
  };
  channel?.addEventListener('message', respond);
  while (!signal.aborted) {
    const end = await readEventStream(position, signal, {
      onopen: () => {
        // Without a position, the stream begins with the next change.
        const mayHaveMissed = position === null && failures > 0;
        failures = 0;
        setLive(true);
        if (mayHaveMissed) send({ kind: 'stale' });
      },
      onchange: (change) => send({ kind: 'changes', changes: [change] }),
      onpresence: (presence) => {
        if (presence.ended) open.delete(presence.tab);
        else open.set(presence.tab, presence);
        send({ kind: 'presence', presence });
      },
      onposition: (next) => {
        position = next;
        channel?.postMessage({ kind: 'position', position } satisfies LiveMessage);
      },
    });
    if (signal.aborted) break;
    open.clear();
    if (live !== false) setLive(false);
    if ('status' in end && end.status === 410) {
      position = null;
      send({ kind: 'stale' });
      continue;
    }
    const refused = 'status' in end && end.status !== 0;
    await pause(refused ? 0 : (RETRY_DELAYS_MS[failures] ?? 0), signal);
    failures += 1;
    // Poll when the stream is refused, or never gets through a proxy.
    if (!refused && failures < RETRY_DELAYS_MS.length) continue;
    const page = await readChanges(position);
    if (page === 'expired') {
      position = null;
      send({ kind: 'stale' });
    } else if (page) {
      // Without a position, the page is empty.
      if (position === null) send({ kind: 'stale' });
      position = page.next;
      if (page.changes.length > 0) send({ kind: 'changes', changes: page.changes });
    }
    await pause(POLL_MS, signal);
  }
  channel?.removeEventListener('message', respond);
  return position;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      done();
    }
    // Back on the network: no need to wait.
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
