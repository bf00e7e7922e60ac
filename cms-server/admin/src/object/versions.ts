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

/** Who made a version, and what it changed. */
export interface VersionChange {
  version: number;
  /** Name of its author; may be empty. */
  by: string;
  /** Properties that it changed. */
  names: string[];
}

/** The versions after `version`, newest first, at most 100; none when they cannot be read. */
export async function readChangesSince(type: string, id: string, version: number): Promise<VersionChange[]> {
  const result = await readVersions(type, id, 1, 100);
  if ('problem' in result) return [];
  return result.data.data
    .filter((item) => item.version > version)
    .map((item) => ({ version: item.version, by: item.by?.name ?? '', names: item.changed ?? [] }));
}
