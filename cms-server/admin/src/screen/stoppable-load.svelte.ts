// A load that the user can stop, and that a newer one replaces. Sends no requests.

export class StoppableLoad {
  busy = $state(false);
  /** The user stopped the last load. */
  stopped = $state(false);
  #running: AbortController | null = null;

  /** Returns the result; undefined if the load was stopped or replaced, which aborts its signal. */
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

  /** Stops the load; a result that arrives later is ignored. */
  stop(): void {
    this.#running?.abort();
    this.#running = null;
    this.busy = false;
    this.stopped = true;
  }
}
