// Which rows are selected, across pages. Knows ids and titles only.
import type { StoredObject } from '../../object/object-requests';
import { displayTitle } from '../../value/title';

export interface Row {
  id: string;
  title: string;
}

export function rowsOf(objects: StoredObject[]): Row[] {
  return objects.map(({ id, internal }) => ({ id, title: displayTitle(internal?.objectTitle, id) }));
}

export class Selection {
  /** Titles by id, in the order of selecting. */
  rows: ReadonlyMap<string, string> = $state.raw(new Map());
  /** Everything that matches the filters, instead of single rows. */
  all: boolean = $state(false);
  #last: string | null = null;

  get count(): number {
    return this.rows.size;
  }

  has(id: string): boolean {
    return this.all || this.rows.has(id);
  }

  /** Selects or deselects a row; with `extend`, also all rows between it and the row that was toggled last. */
  toggle(row: Row, page: Row[], extend = false): void {
    const selected = !this.has(row.id);
    const from = page.findIndex(({ id }) => id === this.#last);
    const to = page.findIndex(({ id }) => id === row.id);
    const range =
      extend && from >= 0 && to >= 0 ? page.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
    this.#last = row.id;
    this.set(range, selected);
  }

  set(rows: Row[], selected: boolean): void {
    const next = new Map(this.all ? [] : this.rows);
    for (const { id, title } of rows) {
      if (selected) next.set(id, title);
      else next.delete(id);
    }
    this.all = false;
    this.rows = next;
  }

  clear(): void {
    this.all = false;
    this.rows = new Map();
    this.#last = null;
  }
}
