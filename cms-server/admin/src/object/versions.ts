// Versions of an object.
import { sendExact, sendRequest, api, type ApiResult, type Page, type Schema } from '../api/client';
import type { StoredObject } from './object-requests';

export type Author = Schema['ChangeAuthor'];

export interface VersionItem {
  id: string;
  version: number;
  current: boolean;
  createdAt?: string;
  internal: NonNullable<StoredObject['internal']>;
  by?: Author;
  /** Names of the changed properties; null when the server did not record them. */
  changed?: string[] | null;
}

export function readVersions(
  type: string,
  id: string,
  page: number,
  limit: number,
): Promise<ApiResult<Page<VersionItem>>> {
  return sendRequest<Page<VersionItem>>(
    api.GET('/api/v1/content/{contentType}/{id}/version', {
      params: { path: { contentType: type, id }, query: { page, limit, order_direction: 'desc' } },
    }),
  );
}

export function readVersion(type: string, id: string, version: number): Promise<ApiResult<StoredObject>> {
  return sendExact(
    api.GET('/api/v1/content/{contentType}/{id}/version/{versionId}', {
      parseAs: 'text',
      params: { path: { contentType: type, id, versionId: String(version) } },
    }),
  );
}

/** Names of the authors of the versions after `version`, without repetition; of the newest 100, if these can be read. */
export async function readAuthorsSince(type: string, id: string, version: number): Promise<string[]> {
  const result = await readVersions(type, id, 1, 100);
  if ('problem' in result) return [];
  const names = result.data.data.map((item) => (item.version > version ? (item.by?.name ?? '') : ''));
  return [...new Set(names.filter((name) => name !== ''))];
}
