// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joinSharedStream, type LiveMessage } from './shared-stream';
import type { Change, FeedListener, Presence } from './change-feed';

type End = { ended: true } | { status: number };

// The feed of the server: the test opens streams, sends on them, and ends them.
const feed = vi.hoisted(() => ({
  streams: [] as {
    since: string | null;
    listener: FeedListener;
    signal: AbortSignal;
    end: (end: End) => void;
  }[],
  polls: [] as (string | null)[],
  page: null as { changes: Change[]; next: string } | 'expired' | null,
}));
vi.mock('./change-feed', () => ({
  readEventStream: (since: string | null, signal: AbortSignal, listener: FeedListener) =>
    new Promise<End>((end) => {
      feed.streams.push({ since, listener, signal, end });
      signal.addEventListener('abort', () => end({ status: 0 }));
    }),
  readChanges: (since: string | null) => {
    feed.polls.push(since);
    return Promise.resolve(feed.page);
  },
}));

/** The channel between the tabs of one browser: messages arrive at the other tabs, asynchronously. */
class FakeChannel extends EventTarget {
  static open: FakeChannel[] = [];
  onmessage: ((event: MessageEvent) => void) | null = null;
  constructor(readonly name: string) {
    super();
    FakeChannel.open.push(this);
    this.addEventListener('message', (event) => this.onmessage?.(event as MessageEvent));
  }
  postMessage(data: unknown) {
    for (const other of FakeChannel.open) {
      if (other === this || other.name !== this.name) continue;
      queueMicrotask(() => other.dispatchEvent(new MessageEvent('message', { data: structuredClone(data) })));
    }
  }
  close() {
    FakeChannel.open = FakeChannel.open.filter((channel) => channel !== this);
  }
}

/** Each lock has one holder at a time, in the order of the requests. */
class FakeLocks {
  #last = new Map<string, Promise<unknown>>();
  request(name: string, { signal }: { signal: AbortSignal }, run: () => Promise<void>): Promise<void> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const aborted = new Promise<never>((_done, failed) => {
      signal.addEventListener('abort', () => failed(new DOMException('', 'AbortError')));
    });
    let holds = false;
    const result = Promise.race([before, aborted]).then(() => {
      holds = true;
      return run();
    });
    this.#last.set(
      name,
      before.then(() => (holds || !signal.aborted ? result.catch(() => undefined) : undefined)),
    );
    return result;
  }
}

class Tab {
  messages: LiveMessage[] = [];
  readonly close: () => void;
  constructor(user = 'ada') {
    this.close = joinSharedStream(user, (message) => this.messages.push(message));
  }
  /** The messages of one kind that this tab has received. */
  received<Kind extends LiveMessage['kind']>(kind: Kind): Extract<LiveMessage, { kind: Kind }>[] {
    return this.messages.filter(
      (message): message is Extract<LiveMessage, { kind: Kind }> => message.kind === kind,
    );
  }
  get live(): boolean {
    return this.received('state').at(-1)?.live ?? false;
  }
  get changedIds(): (string | null)[] {
    return this.received('changes').flatMap(({ changes }) => changes.map((change) => change.id));
  }
}

const change = (id: string): Change => ({
  action: 'update',
  contentType: 'product',
  id,
  version: 2,
  by: 'Ben',
  byId: 'ben',
});
const ben: Presence = {
  tab: 'b',
  contentType: 'product',
  id: 'kettle',
  property: 'price',
  by: 'Ben',
  byId: 'ben',
  ended: false,
};
const settle = () => vi.advanceTimersByTimeAsync(1);
const stream = (index = -1) => {
  const found = feed.streams.at(index);
  if (!found) throw new Error('no stream');
  return found;
};

/** Shows or hides the tab. */
async function show(state: DocumentVisibilityState): Promise<void> {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state);
  document.dispatchEvent(new Event('visibilitychange'));
  await settle();
}

let tabs: Tab[];
async function openTab(user?: string): Promise<Tab> {
  const tab = new Tab(user);
  tabs.push(tab);
  await settle();
  return tab;
}

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(feed, { streams: [], polls: [], page: null });
  FakeChannel.open = [];
  tabs = [];
  vi.stubGlobal('BroadcastChannel', FakeChannel);
  vi.stubGlobal('navigator', { locks: new FakeLocks() });
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible');
});
afterEach(async () => {
  for (const tab of tabs) tab.close();
  await settle();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('event stream', () => {
  it('is one for three tabs, and its changes arrive in all', async () => {
    const three = [await openTab(), await openTab(), await openTab()];
    expect(feed.streams.length).toBe(1);
    stream().listener.onopen();
    stream().listener.onchange(change('kettle'));
    await settle();
    expect(three.map((tab) => [tab.live, tab.changedIds])).toEqual(Array(3).fill([true, ['kettle']]));
  });

  it('is a separate one for each user', async () => {
    await openTab('ada');
    const other = await openTab('ben');
    expect(feed.streams.length).toBe(2);
    stream(0).listener.onchange(change('kettle'));
    await settle();
    expect(other.changedIds).toEqual([]);
  });

  it('continues in another tab at the position where the first tab stopped', async () => {
    const first = await openTab();
    const second = await openTab();
    stream().listener.onopen();
    stream().listener.onposition('41-x');
    await settle();
    first.close();
    await settle();
    expect(feed.streams.length).toBe(2);
    expect(stream().since).toBe('41-x');
    stream().listener.onchange(change('kettle'));
    await settle();
    expect([first.changedIds, second.changedIds]).toEqual([[], ['kettle']]);
  });

  it('reports its state and the presence of other tabs to a tab that opens later', async () => {
    await openTab();
    stream().listener.onopen();
    stream().listener.onpresence(ben);
    const late = await openTab();
    expect(late.live).toBe(true);
    expect(late.received('presence').map(({ presence }) => presence.tab)).toEqual(['b']);
    stream().listener.onpresence({ ...ben, ended: true });
    const latest = await openTab();
    expect(latest.received('presence')).toEqual([]);
  });

  it('is opened again after 1, 2, 5 seconds, without the presences of before', async () => {
    const tab = await openTab();
    stream().listener.onopen();
    stream().listener.onpresence(ben);
    stream().listener.onposition('7-x');
    stream().end({ ended: true });
    await settle();
    expect(tab.live).toBe(false);
    const late = await openTab();
    expect(late.received('presence')).toEqual([]);
    const opened = [];
    for (const seconds of [1, 2, 5]) {
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 100);
      opened.push(feed.streams.length);
      await vi.advanceTimersByTimeAsync(200);
      opened.push(feed.streams.length);
      stream().end({ status: 0 });
      await settle();
    }
    expect(opened).toEqual([1, 2, 2, 3, 3, 4]);
    expect(stream().since).toBe('7-x');
  });

  it('makes everything stale when it opens after a failed attempt without a position', async () => {
    const tab = await openTab();
    stream().end({ status: 0 });
    await vi.advanceTimersByTimeAsync(1000);
    stream().listener.onopen();
    expect([tab.live, tab.received('stale').length]).toEqual([true, 1]);
    stream().listener.onposition('7-x');
    stream().end({ ended: true });
    await vi.advanceTimersByTimeAsync(1000);
    stream().listener.onopen();
    expect(tab.received('stale').length).toBe(1);
  });

  it('is opened immediately when the network is back', async () => {
    await openTab();
    stream().end({ status: 0 });
    await settle();
    dispatchEvent(new Event('online'));
    await settle();
    expect(feed.streams.length).toBe(2);
  });

  it('makes everything stale when its position has expired, and restarts without a position', async () => {
    const tab = await openTab();
    stream().listener.onposition('1-x');
    stream().end({ status: 410 });
    await settle();
    expect(tab.received('stale').length).toBe(1);
    expect([feed.streams.length, stream().since]).toEqual([2, null]);
  });

  it('is replaced by polls every 30 seconds where it is refused', async () => {
    const tab = await openTab();
    feed.page = { changes: [change('kettle')], next: '9-x' };
    stream().end({ status: 503 });
    await settle();
    expect([feed.polls, tab.changedIds, tab.live]).toEqual([[null], ['kettle'], false]);
    // What was changed before the first poll is in none.
    expect(tab.received('stale').length).toBe(1);
    feed.page = 'expired';
    await vi.advanceTimersByTimeAsync(30_000);
    stream().end({ status: 503 });
    await settle();
    expect([feed.polls, tab.received('stale').length]).toEqual([[null, '9-x'], 2]);
  });

  it('is replaced by polls where a proxy never lets it through', async () => {
    await openTab();
    feed.page = { changes: [], next: '3-x' };
    for (const seconds of [1, 2, 5, 10]) {
      stream().end({ status: 0 });
      await vi.advanceTimersByTimeAsync(seconds * 1000 + 10);
    }
    expect(feed.polls).toEqual([null]);
  });

  it('is opened by each tab in a browser without locks', async () => {
    vi.stubGlobal('navigator', {});
    await openTab();
    await openTab();
    expect(feed.streams.length).toBe(2);
  });

  it('without locks stops while its tab is hidden, and continues at its position', async () => {
    vi.stubGlobal('navigator', {});
    const tab = await openTab();
    const seen = stream();
    seen.listener.onposition('5-x');
    await show('hidden');
    await vi.advanceTimersByTimeAsync(120_000);
    expect([feed.streams.length, seen.signal.aborted, feed.polls]).toEqual([1, true, []]);
    await show('visible');
    expect([feed.streams.length, stream().since]).toEqual([2, '5-x']);
    stream().listener.onchange(change('kettle'));
    expect(tab.changedIds).toEqual(['kettle']);
    await show('hidden');
    tab.close();
    await show('visible');
    expect(feed.streams.length).toBe(2);
  });

  it('ends when the tab closes, and no request follows', async () => {
    const tab = await openTab();
    tab.close();
    await vi.advanceTimersByTimeAsync(120_000);
    expect([feed.streams.length, feed.polls]).toEqual([1, []]);
  });
});
