// Requests about content types. Knows the API, no component.
import {
  api,
  dataOrThrow,
  sendExact,
  sendOrThrow,
  sendRequest,
  type ApiResult,
  type Page,
  type Schema,
} from '../../api/client';
import { sendWithProgress, STREAMED, type Progress } from '../../api/progress';
import { ProblemError } from '../../api/problem';
import { asDefinition } from '../../api/definitions';
import { string } from '../../type/definition';
import type { Json } from '../../type/property-draft';
import { payloadOf } from '../../type/type-draft';
import { isEqual } from '../../value/equal';
import { exactText } from '../../value/exact-json';

export type Plan = Schema['ProjectPlan'];

const READ_TIMEOUT_MS = 10_000;

/** Definitions as they were read last, by name: what the user does not change is sent with its original text. */
const sources = new Map<string, Json>();

export async function readDefinition(name: string, signal: AbortSignal): Promise<Json> {
  const definition = dataOrThrow(
    await sendExact<Json>(
      api.GET('/api/v1/internal/contenttype/{id}', {
        params: { path: { id: name } },
        parseAs: 'text',
        signal,
      }),
    ),
  );
  sources.set(nameOf(definition), definition);
  return definition;
}

const nameOf = ({ name }: Json): string => string(name) ?? '';

/** The body of a request, without numbers that JavaScript has rounded. */
function bodyText({ contentTypes = [], ...others }: { contentTypes?: Json[] }): string {
  const definitions = contentTypes.map((definition) => {
    const source = sources.get(nameOf(definition));
    return exactText(definition, source ? [source] : []);
  });
  const members = Object.entries(others).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  return `{${[`"contentTypes":[${definitions.join(',')}]`, ...members].join(',')}}`;
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

/** Returns whether the server has stored these definitions; false if they cannot be read. */
export async function areStored(definitions: Json[]): Promise<boolean> {
  try {
    const stored = await readDefinitions(definitions.map(nameOf), AbortSignal.timeout(READ_TIMEOUT_MS));
    return definitions.every((definition) =>
      isEqual(definition, payloadOf(stored.get(nameOf(definition)) ?? {})),
    );
  } catch {
    return false;
  }
}

export function requestPlan(
  definitions: Json[],
  signal: AbortSignal,
  onprogress: (progress: Progress) => void,
): Promise<ApiResult<Plan>> {
  return sendWithProgress(
    api.POST('/api/v1/internal/contenttype/plan', {
      bodySerializer: bodyText,
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
      bodySerializer: bodyText,
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
