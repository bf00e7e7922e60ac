// A load that the user can stop, and that a newer one replaces. Knows no request.

export class StoppableLoad {
  busy = $state(false);
  /** The user stopped the last load. */
  stopped = $state(false);
  #loads = 0;

  /** The result; undefined when the load was stopped, or another one began since. */
  async run<T>(load: Promise<T>): Promise<T | undefined> {
    this.busy = true;
    this.stopped = false;
    const own = (this.#loads += 1);
    const result = await load;
    if (own !== this.#loads) return undefined;
    this.busy = false;
    return result;
  }

  /** What arrives later is dropped. */
  stop(): void {
    this.#loads += 1;
    this.busy = false;
    this.stopped = true;
  }
}
