// The state of a list: what its address and its saved views hold. Plain values; knows no request.
import { record, string, strings } from '../../type/definition';
import { isEqual } from '../../value/equal';
import { conditionsText, parseConditions, readConditions, type Conditions } from './conditions';

export interface Order {
  path: string;
  descending: boolean;
}

/** What a saved view stores. Null stands for the setting of the user, or the default of the type. */
export interface ViewDefinition {
  words: string;
  conditions: Conditions;
  columns: string[] | null;
  order: Order | null;
  limit: number | null;
}

export interface ListState extends ViewDefinition {
  page: number;
  /** Id of the saved view that the list began with. */
  view: string | null;
}

export const PAGE_SIZES = [25, 50, 100, 200];
export const PAGE_SIZE = 50;
/** The columns in the address if only the title is shown: an empty parameter would be left out. */
const NO_COLUMN = '-';

/** `-price` is by price, descending. */
export function parseOrder(text: string | null): Order | null {
  if (text === null || text === '' || text === '-') return null;
  return text.startsWith('-') ? { path: text.slice(1), descending: true } : { path: text, descending: false };
}

function orderText(order: Order | null): string {
  return order === null ? '' : `${order.descending ? '-' : ''}${order.path}`;
}

/** Reads the query string of a list. */
export function readState(query: URLSearchParams): ListState {
  const limit = Number(query.get('limit'));
  const columns = query.get('columns');
  return {
    words: query.get('q') ?? '',
    conditions: parseConditions(query.get('filters')),
    columns: columns === null || columns === '' ? null : columns.split(',').filter((id) => id !== NO_COLUMN),
    order: parseOrder(query.get('order')),
    limit: PAGE_SIZES.includes(limit) ? limit : null,
    page: Math.max(1, Math.floor(Number(query.get('page') ?? '1')) || 1),
    view: query.get('view') || null,
  };
}

/** Parameters of the query string; an empty one is left out. */
export function stateQuery(state: ListState): Record<string, string> {
  return {
    q: state.words,
    filters: conditionsText(state.conditions),
    columns: state.columns === null ? '' : state.columns.join(',') || NO_COLUMN,
    order: orderText(state.order),
    limit: state.limit === null ? '' : String(state.limit),
    page: state.page > 1 ? String(state.page) : '',
    view: state.view ?? '',
  };
}

/** The definition of a saved view, as it is stored. */
export function viewToStored(state: ViewDefinition): Record<string, unknown> {
  return {
    ...(state.words === '' ? {} : { q: state.words }),
    ...(Object.keys(state.conditions).length === 0 ? {} : { filters: state.conditions }),
    ...(state.columns === null ? {} : { columns: state.columns }),
    ...(state.order === null ? {} : { order: orderText(state.order) }),
    ...(state.limit === null ? {} : { limit: state.limit }),
  };
}

/** Reads a stored definition, also one that another client wrote. */
export function viewFromStored(value: unknown): ViewDefinition {
  const item = record(value);
  const limit = Number(item.limit);
  return {
    words: string(item.q) ?? '',
    conditions: readConditions(item.filters),
    columns: Array.isArray(item.columns) ? strings(item.columns) : null,
    order: parseOrder(string(item.order)),
    limit: PAGE_SIZES.includes(limit) ? limit : null,
  };
}

/** Returns whether a list shows what a saved view holds. */
export function isView(state: ViewDefinition, definition: unknown): boolean {
  return isEqual(viewToStored(state), viewToStored(viewFromStored(definition)));
}
