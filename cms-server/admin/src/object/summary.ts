// Summary: what pickers and relations show of an object: title, status, small image. Reads objects by id and
// by search; knows requests and types, no form and no screen.
import { sendRequest, api, type ApiResult, type Page } from '../api/client';
import { formFor, session, typeNamed } from '../session/session.svelte';
import type { Field } from '../type/form';
import { fileOfUrl, MEDIA_FIELDS, readMedia, type MediaFile } from '../value/media';
import type { Target } from '../value/link';
import { isRecord } from '../value/record';
import { wordsQuery } from '../value/search-text';
import { matchOf, type SearchMatch } from './search-match';
import { isPublic } from './publish-rules';
import { MAX_FIELDS, searchedFields, titleFields } from './title-fields';
import { displayTitle } from '../value/title';

export const MEDIA_TYPE = '_media';
/** Properties of a file that people edit; its bytes decide the others. */
export const FILE_PROPERTIES = ['fileName', 'alt', 'title', 'tags', 'focalPoint', 'variants'];

export interface Summary {
  type: string;
  id: string;
  title: string;
  /** Status of Draft & Public; empty where the type has none. */
  status: string;
  /** Readers see it. */
  isPublic: boolean;
  image: { id: string; extension: string } | null;
  /** Set for files. */
  file: MediaFile | null;
}

/** Moves files behind objects, because texts mostly link to objects; a file whose title is searched stays. */
export function filesLast<S extends Summary>(found: S[], text: string): S[] {
  const typed = text.trim().toLocaleLowerCase();
  const isLast = ({ type, title }: Summary) => type === MEDIA_TYPE && title.toLocaleLowerCase() !== typed;
  return [...found.filter((summary) => !isLast(summary)), ...found.filter(isLast)];
}

/** The property of a type whose image stands for an object. */
function imageFieldOf(type: string): Field | undefined {
  const definition = typeNamed(type);
  return definition && formFor(definition).fields.find(isImageField);
}

function isImageField(field: Field): boolean {
  return field.kind === 'datasource' && field.targets.length === 1 && field.targets[0] === MEDIA_TYPE;
}

/** The fields to request for a summary. */
function summaryFields(type: string): string[] {
  const common = [
    'internal.objectTitle',
    'internal.status',
    'internal.workflowPublicVersion',
    'internal.contentType',
  ];
  if (type === MEDIA_TYPE) return [...common, ...MEDIA_FIELDS];
  const imageField = imageFieldOf(type);
  return imageField ? [...common, `${imageField.name}.url`] : common;
}

/** Names of the properties in which the words of a search may be. */
function searchedFieldNames(type: string): string[] {
  const definition = typeNamed(type);
  return definition ? searchedFields(formFor(definition)).map(({ name }) => name) : [];
}

export function summaryOf(type: string, object: Record<string, unknown>): Summary {
  const internal = isRecord(object.internal) ? object.internal : {};
  const id = typeof object.id === 'string' ? object.id : '';
  const file = type === MEDIA_TYPE ? readMedia(object) : null;
  const imageLinks = object[imageFieldOf(type)?.name ?? ''];
  const first: unknown = Array.isArray(imageLinks) ? imageLinks[0] : undefined;
  const definition = typeNamed(type);
  const title = typeof internal.objectTitle === 'string' ? internal.objectTitle : '';
  return {
    type,
    id,
    title: displayTitle(title, id),
    status: definition?.draftPublic && typeof internal.status === 'string' ? internal.status : '',
    isPublic: !definition || isPublic(definition, internal),
    image: file ? (file.isImage ? file : null) : isRecord(first) ? fileOfUrl(first.url) : null,
    file,
  };
}

/** Reads objects of one type by their ids. */
export async function readSummaries(type: string, ids: string[]): Promise<ApiResult<Summary[]>> {
  const result = await sendRequest<Page<Record<string, unknown>>>(
    api.GET('/api/v1/content/{contentType}', {
      params: {
        path: { contentType: type },
        query: {
          'ids[]': ids,
          limit: ids.length,
          hydrate: type === MEDIA_TYPE ? 0 : 1,
          'fields[]': summaryFields(type),
        },
      },
    }),
  );
  if ('problem' in result) return result;
  return { data: result.data.data.map((object) => summaryOf(type, object)), etag: null };
}

/** Reads objects of several types with one request. It may leave out some: a search finds ids as
 * words, so hits with similar ids can take their places. */
export async function findSummaries(targets: Target[]): Promise<Summary[]> {
  const types = [...new Set(targets.map(({ type }) => type))];
  const result = await sendRequest(
    api.GET('/api/v1/search', {
      params: {
        query: {
          q: targets.map(({ id }) => `id:"${id.replaceAll(/["\\]/g, '\\$&')}"`).join(' '),
          limit: 2 * targets.length,
          'content_type[]': types,
          hydrate: 1,
          'item_fields[]': [...new Set(types.flatMap(summaryFields))].slice(0, MAX_FIELDS),
        },
      },
    }),
  );
  if ('problem' in result) return [];
  return result.data.data.map(({ item }) => summaryOf(contentTypeOf(item), item));
}

export interface FoundSummary extends Summary {
  /** Where the words were found, when that was asked for and the title does not show it. */
  match: SearchMatch | null;
}

export interface SummaryPage {
  summaries: FoundSummary[];
  total: number;
  /** More results on the next page. */
  more: boolean;
}

export interface SummaryQuery {
  text: string;
  /** Empty searches all types. */
  types: string[];
  page: number;
  limit: number;
  filters?: Record<string, string>;
  /** Only objects without a value of this property. */
  without?: string;
  /** Also returns where the words were found. Needs `types`: only with them are all short texts searched. */
  withMatches?: boolean;
  signal?: AbortSignal;
}

/** Searches as people type: words by their beginnings, best first, then the last edited. */
export async function searchSummaries(request: SummaryQuery): Promise<ApiResult<SummaryPage>> {
  const { text, types, page, limit, filters, without, withMatches = false, signal } = request;
  const fields = titleFields(types);
  const q = wordsQuery(text, fields.length);
  if (q === null) return { data: { summaries: [], total: 0, more: false }, etag: null };
  const searched = types.length > 0 ? types : session.types.map((type) => type.name);
  const fieldPaths = searched.flatMap(summaryFields);
  if (withMatches && q !== '*') fieldPaths.push(...types.flatMap(searchedFieldNames));
  const result = await sendRequest(
    api.GET('/api/v1/search', {
      params: {
        query: {
          q: without === undefined ? q : `${q} -${without}:*`,
          page,
          limit,
          'content_type[]': types,
          order_by: 'internal.updatedAt',
          order_direction: 'desc',
          hydrate: 1,
          ...(q !== '*' && { 'fields[]': fields }),
          ...(filters && { filters }),
          'item_fields[]': [...new Set(fieldPaths)].slice(0, MAX_FIELDS),
        },
      },
      ...(signal && { signal }),
    }),
  );
  if ('problem' in result) return result;
  const { data, total_count, total_pages } = result.data;
  const summaries = data.map(({ item }): FoundSummary => {
    const type = contentTypeOf(item);
    const summary = summaryOf(type, item);
    const match = withMatches && q !== '*' ? matchOf(type, item, summary.title, text) : null;
    return { ...summary, match };
  });
  return { data: { summaries, total: total_count, more: page < total_pages }, etag: null };
}

function contentTypeOf(item: Record<string, unknown>): string {
  const internal = isRecord(item.internal) ? item.internal : {};
  return typeof internal.contentType === 'string' ? internal.contentType : '';
}
