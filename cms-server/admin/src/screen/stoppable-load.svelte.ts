// A load that the user can stop, and that a newer one replaces. Knows no request.

export class StoppableLoad {
  busy = $state(false);
  /** The user stopped the last load. */
  stopped = $state(false);
  #running: AbortController | null = null;

  /** The result; undefined when the load was stopped, or another one began since. Then its signal is aborted. */
  async run<T>(load: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.#running?.abort();
    const own = new AbortController();
    this.#running = own;
    this.busy = true;
    this.stopped = false;
    try {
      const result = await load(own.signal);
      if (own !== this.#running) return undefined;
      this.busy = false;
      return result;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      throw error;
    }
  }

  /** What arrives later is dropped. */
  stop(): void {
    this.#running?.abort();
    this.#running = null;
    this.busy = false;
    this.stopped = true;
  }
}
