// Requests about content types. Knows the API, no component.
import { sendRequest, api, sendOrThrow, type ApiResult, type Page, type Schema } from '../../api/client';
import { sendWithProgress, STREAMED, type Progress } from '../../api/progress';
import { ProblemError } from '../../api/problem';
import { asDefinition } from '../../api/definitions';
import { record } from '../../type/definition';
import type { Json } from '../../type/property-draft';

export type Plan = Schema['ProjectPlan'];

export async function readDefinition(name: string, signal: AbortSignal): Promise<Json> {
  return record(
    await sendOrThrow<unknown>(
      api.GET('/api/v1/internal/contenttype/{id}', { params: { path: { id: name } }, signal }),
    ),
  );
}

/** Reads definitions, by name; deleted types are left out. */
export async function readDefinitions(names: string[], signal: AbortSignal): Promise<Map<string, Json>> {
  const found = await Promise.all(
    names.map(async (name) => {
      try {
        return [[name, await readDefinition(name, signal)] as const];
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status === 404) return [];
        throw error;
      }
    }),
  );
  return new Map(found.flat());
}

export function requestPlan(
  definitions: Json[],
  signal: AbortSignal,
  onprogress: (progress: Progress) => void,
): Promise<ApiResult<Plan>> {
  return sendWithProgress(
    api.POST('/api/v1/internal/contenttype/plan', {
      body: { contentTypes: definitions.map(asDefinition), prune: false },
      signal,
      ...STREAMED,
    }),
    onprogress,
  );
}

export function requestApply(
  definitions: Json[],
  token: string,
  allowDataLoss: string[],
  onprogress: (progress: Progress) => void,
): Promise<ApiResult<Plan>> {
  return sendWithProgress(
    api.POST('/api/v1/internal/contenttype/apply', {
      body: { contentTypes: definitions.map(asDefinition), prune: false, token, allowDataLoss },
      ...STREAMED,
    }),
    onprogress,
  );
}

/** The number of objects of a type, drafts included. */
export async function countObjects(
  type: string,
  { filters, signal }: { filters?: Record<string, unknown>; signal?: AbortSignal } = {},
): Promise<number> {
  const query = { limit: 1, 'fields[]': ['id'], ...(filters && { filters: JSON.stringify(filters) }) };
  const found = await sendOrThrow<Page<unknown>>(
    api.GET('/api/v1/content/{contentType}', {
      params: { path: { contentType: type }, query },
      ...(signal && { signal }),
    }),
  );
  return found.total_count;
}

export function deleteType(name: string): Promise<ApiResult<unknown>> {
  return sendRequest<unknown>(
    api.DELETE('/api/v1/internal/contenttype/{id}', { params: { path: { id: name } } }),
  );
}

/** Moves all objects of a type to the trash; with `deleteSchema`, removes them and the type permanently. */
export function purgeType(name: string, deleteSchema: boolean): Promise<ApiResult<unknown>> {
  return sendRequest<unknown>(
    api.POST('/api/v1/internal/contenttype/{id}/purge', {
      params: { path: { id: name } },
      body: { deleteSchema },
    }),
  );
}
