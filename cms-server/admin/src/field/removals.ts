// Removed items of a list that the user can restore: in any order, each between the items that it was between,
// as long as the list has only been changed by the control itself.
import { isEqual } from '../value/equal';
import { inserted } from '../value/list';

interface Removal<K> {
  key: K;
  item: unknown;
  /** Keys of the list that the item was in, with those of items removed earlier. */
  order: readonly K[];
  withdraw: () => void;
}

/** `K` is the type of the keys of items. */
export class Removals<K extends number | string = number> {
  /** The oldest first. */
  #removals: Removal<K>[] = [];
  #written: unknown;

  /** `keys` are those of the list; `offer` shows a message and returns how to withdraw it, see `undoToast`. */
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
    // The latest first: its order has the keys of those before it.
    const order = this.#removals.reduceRight(
      (all, earlier) => inserted(all, place(all, earlier), earlier.key),
      keys,
    );
    const removal: Removal<K> = { key, item, order, withdraw: () => undefined };
    this.#removals.push(removal);
    removal.withdraw = this.offer(message, () => {
      if (!this.#removals.includes(removal)) return;
      this.#removals = this.#removals.filter((other) => other !== removal);
      // Something else has put it back.
      if (this.keys().includes(key)) return;
      restore(place(this.keys(), removal), item, key);
    });
  }

  /** Notes the value that the control has made of the list, and returns it. */
  written<V>(value: V): V {
    this.#written = value;
    return value;
  }

  /** Withdraws what was offered when something else has replaced the list, such as "Discard". */
  follow(value: unknown): void {
    if (this.#removals.length > 0 && !isEqual(value, this.#written)) this.withdraw(() => true);
  }

  withdraw(which: (item: unknown) => boolean): void {
    const withdrawn = this.#removals.filter(({ item }) => which(item));
    this.#removals = this.#removals.filter((removal) => !withdrawn.includes(removal));
    for (const removal of withdrawn) removal.withdraw();
  }
}

/** The index after the nearest item that was before the removed one. */
function place<K>(keys: readonly K[], { key, order }: Removal<K>): number {
  const before = order.slice(0, order.indexOf(key));
  const present = new Set(keys);
  const nearest = before.findLast((other) => present.has(other));
  return nearest === undefined ? 0 : keys.indexOf(nearest) + 1;
}
