// PendingRefresh: lists do not move under the pointer. Changes on the server are read in the background and wait until
// the user shows them.
import type { QueryKey } from '@tanstack/svelte-query';
import { onChange } from './live.svelte';
import { queries } from './queries';

export class PendingRefresh<T> {
  #found = $state.raw<{ key: string; data: T; count: number } | null>(null);
  #running: AbortController | undefined;

  constructor(
    private readonly options: {
      key: () => QueryKey;
      read: (signal: AbortSignal) => Promise<T>;
      /** One string per shown row; a row whose string has changed is a new row. */
      rows: (data: T) => string[];
      /** The content type of the rows; by default, changes of all types are read. */
      type?: () => string;
      /** Returns whether new data move no row: then they are shown immediately. */
      isInPlace?: (before: T, next: T) => boolean;
      /** Combines shown and read data when the user asks for it; by default the read data replace the shown. */
      join?: (before: T, next: T) => T;
    },
  ) {}

  /** Number of new rows, or of missing rows if these are more. */
  get count(): number {
    return this.#found?.key === this.#key ? this.#found.count : 0;
  }

  get #key(): string {
    return JSON.stringify(this.options.key());
  }

  /** Watches until the returned function is called. */
  start(): () => void {
    const check = () => void this.check();
    const visible = () => {
      if (document.visibilityState === 'visible') check();
    };
    const stop = onChange((change) => {
      const type = this.options.type?.();
      if (change === null || type === undefined || change.contentType === type) check();
    });
    addEventListener('focus', check);
    document.addEventListener('visibilitychange', visible);
    return () => {
      stop();
      removeEventListener('focus', check);
      document.removeEventListener('visibilitychange', visible);
      this.#running?.abort();
    };
  }

  /** Reads again, and compares with what is shown. */
  async check(): Promise<void> {
    const key = this.#key;
    const before = queries.getQueryData<T>(this.options.key());
    if (before === undefined) return;
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    let next: T;
    try {
      next = await this.options.read(running.signal);
    } catch {
      // The next check, or the next request of the user, reports a problem that stays.
      return;
    }
    const isOld = queries.getQueryData(this.options.key()) !== before;
    if (running.signal.aborted || isOld || this.#key !== key) return;
    if (this.options.isInPlace?.(before, next)) {
      queries.setQueryData<T>(this.options.key(), next);
      this.clear();
      return;
    }
    const [shown, found] = [new Set(this.options.rows(before)), new Set(this.options.rows(next))];
    const added = [...found].filter((row) => !shown.has(row)).length;
    const gone = this.options.join ? 0 : [...shown].filter((row) => !found.has(row)).length;
    const count = Math.max(added, gone);
    this.#found = count > 0 ? { key, data: next, count } : null;
  }

  show(): void {
    const found = this.#found;
    this.clear();
    if (found?.key !== this.#key) return;
    const { key, join } = this.options;
    queries.setQueryData<T>(key(), (before) => (join && before ? join(before, found.data) : found.data));
  }

  clear(): void {
    this.#found = null;
  }
}
