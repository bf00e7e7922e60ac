// News: what has changed on the server since the rows were shown. A list never moves under the pointer: new
// values of the same rows appear in place, everything else waits for the user.
import { onChange } from '../live.svelte';
import { changedRows, isSameOrder, type Rows } from './rows';

export class News {
  /** How many rows differ from those shown. */
  count = $state(0);
  #next: Rows | null = null;
  #request: AbortController | undefined;

  constructor(
    private readonly type: () => string,
    private readonly shown: () => Rows | undefined,
    private readonly read: (signal: AbortSignal) => Promise<Rows>,
    private readonly replace: (next: Rows) => void,
  ) {}

  /** Watches until the returned function is called. */
  start(): () => void {
    const check = () => void this.check();
    const visible = () => {
      if (document.visibilityState === 'visible') check();
    };
    addEventListener('focus', check);
    document.addEventListener('visibilitychange', visible);
    const stop = onChange((change) => {
      if (change === null || change.contentType === this.type()) check();
    });
    return () => {
      stop();
      removeEventListener('focus', check);
      document.removeEventListener('visibilitychange', visible);
      this.#request?.abort();
    };
  }

  /** Reads the rows again, and compares them with those shown. */
  async check(): Promise<void> {
    const before = this.shown();
    if (!before) return;
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    let next: Rows;
    try {
      next = await this.read(request.signal);
    } catch {
      // The next check, or the next request of the user, reports a problem that stays.
      return;
    }
    if (request.signal.aborted || this.shown() !== before) return;
    const changed = changedRows(before, next);
    if (changed.length > 0 && isSameOrder(before, next)) {
      this.replace(next);
      this.clear();
    } else {
      this.#next = changed.length > 0 ? next : null;
      this.count = changed.length;
    }
  }

  show(): void {
    if (this.#next) this.replace(this.#next);
    this.clear();
  }

  clear(): void {
    this.#next = null;
    this.count = 0;
  }
}
