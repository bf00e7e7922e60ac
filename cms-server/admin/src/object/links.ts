// Links to other objects inside values, and the titles of their targets.
import { sendRequest, api, type Page } from '../api/client';
import { targetOf, targetOfPath } from '../value/link';
import { partsOf } from '../value/list';
import { isRecord } from '../value/record';
import type { StoredObject } from './object-requests';
import { displayTitle } from '../value/title';

/** Ids in one request: proxies refuse URLs of more than 8 KB. */
export const IDS_PER_REQUEST = 100;
/** Maximum number of links whose targets are read: one property may have 10,000. */
export const MAX_TARGETS = 1000;
const FIELDS = ['internal.objectTitle', 'internal.status', 'internal.contentType'];

/** URLs of all links inside a value, each once, in their order. */
export function linksIn(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (inner: unknown): void => {
    if (Array.isArray(inner)) inner.forEach(visit);
    else if (isRecord(inner)) {
      if (typeof inner.dataUrl === 'string' && targetOf(inner)) found.add(inner.dataUrl);
      Object.values(inner).forEach(visit);
    }
  };
  visit(value);
  return [...found];
}

/** Title and status of the first linked objects by URL. Objects that cannot be read are left out. */
export async function readTargets(urls: string[]): Promise<Map<string, StoredObject>> {
  const byType = new Map<string, Map<string, string>>();
  for (const url of urls.slice(0, MAX_TARGETS)) {
    const target = targetOfPath(url);
    if (!target) continue;
    const ids = byType.get(target.type) ?? new Map<string, string>();
    byType.set(target.type, ids.set(target.id.toLowerCase(), url));
  }
  const found = new Map<string, StoredObject>();
  for (const [contentType, ids] of byType) {
    for (const part of partsOf([...ids.keys()], IDS_PER_REQUEST)) {
      const result = await sendRequest<Page<StoredObject>>(
        api.GET('/api/v1/content/{contentType}', {
          params: {
            path: { contentType },
            query: { 'ids[]': part, 'fields[]': FIELDS, limit: IDS_PER_REQUEST },
          },
        }),
      );
      if ('problem' in result) continue;
      for (const object of result.data.data) {
        const url = ids.get(object.id.toLowerCase());
        if (url !== undefined) found.set(url, object);
      }
    }
  }
  return found;
}

/** Titles of linked objects by URL. */
export async function readTitles(urls: string[]): Promise<Map<string, string>> {
  const targets = await readTargets(urls);
  return new Map(
    [...targets].map(([url, object]) => [url, displayTitle(object.internal?.objectTitle, object.id)]),
  );
}
