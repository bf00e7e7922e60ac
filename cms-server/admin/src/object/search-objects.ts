// Finding objects by words, over one type or all: ids and titles only. Knows requests, no screen.
import { api, sendOrThrow } from '../api/client';
import { record, string } from '../type/definition';
import { isRecord } from '../value/record';
import { queryFor } from '../value/search-text';
import { titleFields } from './title-fields';
import { displayTitle } from '../value/title';

/** A search counts and returns no more hits. */
export const MAX_HITS = 10_000;

export interface SearchHit {
  type: string;
  id: string;
  title: string;
  status: string;
  updatedAt: string | null;
}

export interface SearchHits {
  hits: SearchHit[];
  total: number;
  pages: number;
  /** The index does not include all changes yet. */
  isIncomplete: boolean;
  /** Counts by type and by status, when they were asked for. */
  types: FacetBucket[];
  statuses: FacetBucket[];
}

export interface FacetBucket {
  key: string;
  count: number;
}

export interface ObjectQuery {
  words: string;
  /** Content types; empty for all. */
  types?: string[];
  status?: string | null;
  limit?: number;
  page?: number;
  facets?: boolean;
  /** Only titles and ids are searched; with `types` also their other short texts. */
  byTitle?: boolean;
  signal?: AbortSignal;
}

/** Objects ranked by words; without words, the newest first. */
export async function searchObjects(search: ObjectQuery): Promise<SearchHits> {
  const fields = search.byTitle ? titleFields(search.types ?? []) : null;
  const q = queryFor(search.words, fields?.length);
  const facets = ['internal.contentType', 'internal.status'];
  const result = await sendOrThrow(
    api.GET('/api/v1/search', {
      params: {
        query: {
          q,
          limit: search.limit ?? 20,
          page: search.page ?? 1,
          'item_fields[]': ['internal'],
          ...(search.types && search.types.length > 0 ? { 'content_type[]': search.types } : {}),
          ...(search.status ? { filters: { 'internal.status': search.status } } : {}),
          ...(fields && q !== '*' ? { 'fields[]': fields } : {}),
          ...(search.facets ? { 'aggregate_by[]': facets } : {}),
          ...(q === '*' ? { order_by: 'internal.updatedAt', order_direction: 'desc' as const } : {}),
        },
      },
      ...(search.signal && { signal: search.signal }),
    }),
  );
  const aggregations: unknown = result.summary.aggregations;
  return {
    hits: result.data.map(({ item }) => readHit(item)),
    total: result.total_count,
    pages: result.total_pages,
    isIncomplete: result.summary.incomplete_results === true,
    types: buckets(aggregations, 'internal.contentType'),
    statuses: buckets(aggregations, 'internal.status'),
  };
}

/** An object as the search returns it. */
export function readHit(item: unknown): SearchHit {
  const object = record(item);
  const internal = record(object.internal);
  const id = string(object.id) ?? '';
  return {
    type: string(internal.contentType) ?? '',
    id,
    title: displayTitle(string(internal.objectTitle), id),
    status: string(internal.status) ?? '',
    updatedAt: string(internal.updatedAt),
  };
}

function buckets(aggregations: unknown, field: string): FacetBucket[] {
  const list: unknown[] = Array.isArray(aggregations) ? aggregations : [];
  const found = list.find((item) => isRecord(item) && item.field === field);
  const rows: unknown = isRecord(found) ? found.buckets : [];
  return (Array.isArray(rows) ? rows : []).filter(isRecord).map(({ key, doc_count: count }) => ({
    key: String(key),
    count: Number(count),
  }));
}
