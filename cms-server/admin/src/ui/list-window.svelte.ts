// ListWindow: the part of a long list that is rendered, so that 10,000 items do not freeze the page. Knows no
// component.
import { fitRange, rangeWith, type ItemRange } from '../value/item-range';

export class ListWindow<T> {
  readonly #list: () => readonly T[];
  readonly #step: () => number;
  /** The requested range; the list may have become shorter since. */
  #wanted: ItemRange = $state.raw({ start: 0, end: 0 });
  readonly #range: ItemRange = $derived.by(() => fitRange(this.#wanted, this.length, this.step));
  /** The items that are rendered. */
  readonly items: T[] = $derived.by(() => this.#list().slice(this.start, this.end));

  /** `step`: number of items that are rendered at first, and that each step adds. */
  constructor(list: () => readonly T[], step: () => number) {
    this.#list = list;
    this.#step = step;
  }

  get length(): number {
    return this.#list().length;
  }

  get step(): number {
    return this.#step();
  }

  get start(): number {
    return this.#range.start;
  }

  /** Not included. */
  get end(): number {
    return this.#range.end;
  }

  /** Renders the item at `index` too. */
  readonly show = (index: number): void => {
    this.#wanted = rangeWith(this.#range, index, this.step);
  };

  showEarlier(): void {
    this.#wanted = { start: Math.max(0, this.start - this.step), end: this.end };
  }

  showMore(): void {
    this.#wanted = { start: this.start, end: this.end + this.step };
  }
}
