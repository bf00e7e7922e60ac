// Reading pages of the media library: by filters from the list of the API, by words from its search.
import { sendRequest, api, type ApiResult, type Page } from '../../api/client';
import { MEDIA_TYPE, searchSummaries, summaryOf, type Summary } from '../../object/summary';
import { linkTo } from '../../value/link';
import { MEDIA_FIELDS } from '../../value/media';
import { exactValue } from '../../value/search-text';

export const PAGE_SIZE = 60;
export const TAG_TYPE = '_tag';

export interface FileFilter {
  words: string;
  /** image, file or empty. */
  kind: string;
  /** Id of a tag, or empty. */
  tag: string;
  withoutAlt: boolean;
}

export interface FilePage {
  files: Summary[];
  total: number;
  pages: number;
}

/** Conditions of a list request. */
export function conditionsOf({ kind, tag, withoutAlt }: FileFilter): Record<string, unknown> {
  const conditions: Record<string, unknown> = {};
  if (kind !== '') conditions.type = { type: 'equals', filter: kind };
  if (tag !== '') conditions['tags[*].dataUrl'] = { type: 'equals', filter: linkTo(TAG_TYPE, tag).dataUrl };
  if (withoutAlt) {
    conditions.alt = { type: 'empty' };
    // Other files need no alternative text.
    if (kind === '') conditions.type = { type: 'equals', filter: 'image' };
  }
  return conditions;
}

export async function readFiles(
  filter: FileFilter,
  page: number,
  signal?: AbortSignal,
): Promise<ApiResult<FilePage>> {
  return filter.words.trim() === '' ? list(filter, page, signal) : search(filter, page, signal);
}

async function list(filter: FileFilter, page: number, signal?: AbortSignal): Promise<ApiResult<FilePage>> {
  const result = await sendRequest<Page<Record<string, unknown>>>(
    api.GET('/api/v1/content/{contentType}', {
      params: {
        path: { contentType: MEDIA_TYPE },
        query: {
          page,
          limit: PAGE_SIZE,
          order_by: 'internal.createdAt',
          order_direction: 'desc',
          filters: JSON.stringify(conditionsOf(filter)),
          'fields[]': [...MEDIA_FIELDS, 'internal.objectTitle'],
        },
      },
      ...(signal && { signal }),
    }),
  );
  if ('problem' in result) return result;
  const { data, total_count, total_pages } = result.data;
  const files = data.map((object) => summaryOf(MEDIA_TYPE, object));
  return { data: { files, total: total_count, pages: total_pages }, etag: null };
}

async function search(filter: FileFilter, page: number, signal?: AbortSignal): Promise<ApiResult<FilePage>> {
  const filters: Record<string, string> = {};
  if (filter.kind !== '' || filter.withoutAlt) filters.type = filter.withoutAlt ? 'image' : filter.kind;
  if (filter.tag !== '') filters.tags = exactValue(linkTo(TAG_TYPE, filter.tag).dataUrl);
  const result = await searchSummaries({
    text: filter.words,
    types: [MEDIA_TYPE],
    page,
    limit: PAGE_SIZE,
    filters,
    ...(filter.withoutAlt && { without: 'alt' }),
    ...(signal && { signal }),
  });
  if ('problem' in result) return result;
  const { summaries, total } = result.data;
  return { data: { files: summaries, total, pages: Math.ceil(total / PAGE_SIZE) }, etag: null };
}

/** Number of images without an alternative text. */
export async function countWithoutAlt(): Promise<number | null> {
  const filter = { words: '', kind: '', tag: '', withoutAlt: true };
  const result = await sendRequest<Page<unknown>>(
    api.GET('/api/v1/content/{contentType}', {
      params: {
        path: { contentType: MEDIA_TYPE },
        query: { limit: 1, filters: JSON.stringify(conditionsOf(filter)), 'fields[]': ['id'] },
      },
    }),
  );
  return 'problem' in result ? null : result.data.total_count;
}
