// Requests about content types. Knows the API, no component.
import { answer, api, unwrap, type Answer, type Page, type Schema } from '../../api/client';
import { asDefinition } from '../../api/definitions';
import { record } from '../../type/definition';
import type { Json } from '../../type/property-draft';

export type Plan = Schema['ProjectPlan'];

export async function readDefinition(name: string, signal: AbortSignal): Promise<Json> {
  return record(
    await unwrap<unknown>(
      api.GET('/api/v1/internal/contenttype/{id}', { params: { path: { id: name } }, signal }),
    ),
  );
}

export function requestPlan(definitions: Json[], signal: AbortSignal): Promise<Answer<Plan>> {
  return answer(
    api.POST('/api/v1/internal/contenttype/plan', {
      body: { contentTypes: definitions.map(asDefinition), prune: false },
      signal,
    }),
  );
}

export function requestApply(
  definitions: Json[],
  token: string,
  allowDataLoss: string[],
): Promise<Answer<Plan>> {
  return answer(
    api.POST('/api/v1/internal/contenttype/apply', {
      body: { contentTypes: definitions.map(asDefinition), prune: false, token, allowDataLoss },
    }),
  );
}

/** The number of objects of a type, drafts included. */
export async function countObjects(type: string, signal?: AbortSignal): Promise<number> {
  const found = await unwrap<Page<unknown>>(
    api.GET('/api/v1/content/{contentType}', {
      params: { path: { contentType: type }, query: { limit: 1, 'fields[]': ['id'] } },
      ...(signal && { signal }),
    }),
  );
  return found.total_count;
}

export function deleteType(name: string): Promise<Answer<unknown>> {
  return answer<unknown>(api.DELETE('/api/v1/internal/contenttype/{id}', { params: { path: { id: name } } }));
}

/** Removes all objects of a type, and the type with them. */
export function purgeType(name: string, deleteSchema: boolean): Promise<Answer<unknown>> {
  return answer<unknown>(
    api.POST('/api/v1/internal/contenttype/{id}/purge', {
      params: { path: { id: name } },
      body: { deleteSchema },
    }),
  );
}
