// PendingChanges: changes on the server since the rows were shown. A list never moves under the pointer: new
// values of the same rows appear in place, all other changes wait until the user shows them.
import { onChange } from '../live.svelte';
import { changedRows, isSameOrder, type Request, type Rows } from './rows';

/** Rows that wait to be shown, and the request that returned them. */
interface Found {
  request: string;
  rows: Rows;
  count: number;
}

export class PendingChanges {
  #found = $state.raw<Found | null>(null);
  #running: AbortController | undefined;

  constructor(
    private readonly request: () => Request,
    /** The shown rows of this request; undefined while rows of an earlier request are shown. */
    private readonly shown: () => Rows | undefined,
    private readonly read: (request: Request, signal: AbortSignal) => Promise<Rows>,
    private readonly replace: (request: Request, next: Rows) => void,
  ) {}

  /** Number of rows that differ from the shown ones. */
  get count(): number {
    return this.#current?.count ?? 0;
  }

  /** Rows of another page or filter are not pending changes of the open list. */
  get #current(): Found | null {
    return this.#found?.request === keyOf(this.request()) ? this.#found : null;
  }

  /** Watches until the returned function is called. */
  start(): () => void {
    const check = () => void this.check();
    const visible = () => {
      if (document.visibilityState === 'visible') check();
    };
    addEventListener('focus', check);
    document.addEventListener('visibilitychange', visible);
    const stop = onChange((change) => {
      if (change === null || change.contentType === this.request().type) check();
    });
    return () => {
      stop();
      removeEventListener('focus', check);
      document.removeEventListener('visibilitychange', visible);
      this.#running?.abort();
    };
  }

  /** Reads the rows again, and compares them with those shown. */
  async check(): Promise<void> {
    const before = this.shown();
    if (!before) return;
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const request = this.request();
    const key = keyOf(request);
    let next: Rows;
    try {
      next = await this.read(request, running.signal);
    } catch {
      // The next check, or the next request of the user, reports a problem that stays.
      return;
    }
    if (running.signal.aborted || this.shown() !== before || keyOf(this.request()) !== key) return;
    const changed = changedRows(before, next);
    // Also where only the number of objects has changed, on other pages.
    if (isSameOrder(before, next)) {
      this.replace(request, next);
      this.clear();
    } else {
      this.#found = changed.length > 0 ? { request: key, rows: next, count: changed.length } : null;
    }
  }

  show(): void {
    if (this.#current) this.replace(this.request(), this.#current.rows);
    this.clear();
  }

  clear(): void {
    this.#found = null;
  }
}

function keyOf(request: Request): string {
  return JSON.stringify(request);
}
