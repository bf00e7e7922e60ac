// Requests of a list: one page of objects, by filters in their order, or by words in the order of relevance.
// Knows the API and the state of a list, no component.
import { api, sendOrThrow, type Page } from '../../api/client';
import type { StoredObject } from '../../object/object-requests';
import { isRecord } from '../../value/record';
import { queryFor } from '../../value/search-text';
import { fieldsFor, type Column } from './columns';
import { apiConditions, searchFilters, type PathKind } from './conditions';
import type { Property } from './properties';
import { PAGE_SIZE, type ListState, type Order } from './state';

export interface Rows {
  objects: StoredObject[];
  total: number;
  page: number;
  pages: number;
  /** Found by words, while the search index does not include all changes yet. */
  isIncomplete: boolean;
}

/** What is requested; equal requests have equal responses until something changes. */
export interface Request {
  type: string;
  words: string;
  filters: Record<string, unknown>;
  order: Order;
  page: number;
  limit: number;
  fields: string[];
  hydrate: 0 | 1;
}

/** Returns a function that finds the kind of a path. */
function kindIn(properties: Property[]): (path: string) => PathKind {
  return (path) => properties.find((property) => property.path === path)?.kind ?? 'other';
}

export function requestFor(
  type: string,
  state: ListState,
  columns: Column[],
  properties: Property[],
  order: Order,
): Request {
  return {
    type,
    words: state.words.trim(),
    filters: apiConditions(state.conditions, kindIn(properties)),
    order: state.order ?? order,
    page: state.page,
    limit: state.limit ?? PAGE_SIZE,
    fields: fieldsFor(columns),
    hydrate: columns.some((column) => column.linked) ? 1 : 0,
  };
}

export async function readRows(request: Request, signal: AbortSignal): Promise<Rows> {
  return request.words === '' ? readList(request, signal) : readHits(request, signal);
}

async function readList(request: Request, signal: AbortSignal): Promise<Rows> {
  const { page, limit, hydrate, order, filters } = request;
  const found = await sendOrThrow<Page<StoredObject>>(
    api.GET('/api/v1/content/{contentType}', {
      params: {
        path: { contentType: request.type },
        query: {
          page,
          limit,
          hydrate,
          order_by: order.path,
          order_direction: order.descending ? 'desc' : 'asc',
          'fields[]': request.fields,
          ...(Object.keys(filters).length === 0 ? {} : { filters: JSON.stringify(filters) }),
        },
      },
      signal,
    }),
  );
  return {
    objects: found.data,
    total: found.total_count,
    page: found.current_page,
    pages: found.total_pages,
    isIncomplete: false,
  };
}

async function readHits(request: Request, signal: AbortSignal): Promise<Rows> {
  const { page, limit, hydrate } = request;
  const found = await sendOrThrow(
    api.GET('/api/v1/search', {
      params: {
        query: {
          q: queryFor(request.words),
          page,
          limit,
          hydrate,
          'content_type[]': [request.type],
          'item_fields[]': request.fields,
          filters: searchFilters(request.filters).filters,
        },
      },
      signal,
    }),
  );
  const objects = found.data.flatMap(({ item }) => {
    const id: unknown = isRecord(item) ? item.id : undefined;
    return isRecord(item) && typeof id === 'string' ? [{ ...item, id }] : [];
  });
  return {
    objects,
    total: found.total_count,
    page: found.current_page,
    pages: found.total_pages,
    isIncomplete: found.summary.incomplete_results === true,
  };
}

/** Returns whether the same objects stand at the same places: then new values move nothing. */
export function isSameOrder(before: Rows, next: Rows): boolean {
  return (
    before.objects.length === next.objects.length &&
    before.objects.every((object, index) => object.id === next.objects[index]?.id)
  );
}
