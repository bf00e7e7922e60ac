// Removed items of a list, which the user can restore in any order, each to its place between the other items. This
// is possible as long as only the control itself has changed the list.
import { isEqual } from '../value/equal';
import { inserted } from '../value/list';

interface Removal<K> {
  key: K;
  item: unknown;
  /** Keys of the list before the removal, with the keys of earlier removed items at their places. */
  order: readonly K[];
  withdraw: () => void;
}

/** `K` is the type of the keys of items. */
export class Removals<K extends number | string = number> {
  /** The oldest first. */
  #removals: Removal<K>[] = [];
  #written: unknown;

  /** `keys`: those of the list. `offer` shows a message and returns a function that withdraws it, see `undoToast`. */
  constructor(
    private readonly keys: () => readonly K[],
    private readonly offer: (message: string, undo: () => void) => () => void,
  ) {}

  /** Keys of the removed items: a new item gets another one. */
  get reserved(): K[] {
    return this.#removals.map(({ key }) => key);
  }

  /** To be called before the item at `index` is removed. */
  add(
    index: number,
    item: unknown,
    message: string,
    restore: (index: number, item: unknown, key: K) => void,
  ): void {
    const keys = this.keys();
    const key = keys[index];
    if (key === undefined) return;
    // The latest removal first: its order contains the keys of the earlier ones.
    const order = this.#removals.reduceRight(
      (all, earlier) => inserted(all, place(all, earlier), earlier.key),
      keys,
    );
    const removal: Removal<K> = { key, item, order, withdraw: () => undefined };
    this.#removals.push(removal);
    removal.withdraw = this.offer(message, () => {
      if (!this.#removals.includes(removal)) return;
      this.#removals = this.#removals.filter((other) => other !== removal);
      restore(place(this.keys(), removal), item, key);
    });
  }

  /** Notes the new list that the control reports, and returns it. */
  written<V>(value: V): V {
    this.#written = value;
    return value;
  }

  /** Withdraws all offers if something else than the control has replaced the list, such as "Discard". */
  follow(value: unknown): void {
    if (this.#removals.length > 0 && !isEqual(value, this.#written)) this.withdraw(() => true);
  }

  withdraw(which: (item: unknown) => boolean): void {
    const withdrawn = this.#removals.filter(({ item }) => which(item));
    this.#removals = this.#removals.filter((removal) => !withdrawn.includes(removal));
    for (const removal of withdrawn) removal.withdraw();
  }
}

/** The index after the nearest item of the list that was before the removed one. */
function place<K>(keys: readonly K[], { key, order }: Removal<K>): number {
  const before = order.slice(0, order.indexOf(key));
  const present = new Set(keys);
  const nearest = before.findLast((other) => present.has(other));
  return nearest === undefined ? 0 : keys.indexOf(nearest) + 1;
}
