// Problem: why a request did not succeed, as a value. Knows the error bodies of the API, no screen.
import { t } from '../text';
import { isRecord } from '../value/record';

/** Validation errors by path of the property, as the API sends them. */
export type FieldErrors = Record<string, string[]>;

export interface Problem {
  /** HTTP status; 0 when no response arrived. */
  status: number;
  /** A sentence for users, from the API; from this page if the body is not from the API. Empty without a response. */
  message: string;
  /** Validation errors of a 400; empty for other responses. */
  fields: FieldErrors;
  /** Identifies the request in the log of the server. */
  requestId: string | null;
  /** Seconds after which the request may be repeated. */
  retryAfter: number | null;
  /** `data` of the body of an error, or the refused elements of a batch; null if the body has neither. */
  data: unknown;
}

/** Thrown where a promise must reject, as in query functions. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** Reads the body of an error response. */
export function problemOf(response: Response, body: unknown): Problem {
  const problem: Problem = {
    status: response.status,
    message: t.common.unexpectedStatus(response.status),
    fields: {},
    requestId: response.headers.get('x-request-id'),
    retryAfter: seconds(response.headers.get('retry-after')),
    data: null,
  };
  if (!isRecord(body)) return problem;
  if (typeof body.message === 'string') {
    problem.message = body.message;
    problem.data = body.data ?? null;
    return problem;
  }
  if (typeof body.batch_error_count === 'number') {
    problem.data = body.errors;
    return problem;
  }
  for (const [path, messages] of Object.entries(body)) {
    if (Array.isArray(messages)) problem.fields[path] = messages.map(String);
  }
  const first = Object.entries(problem.fields)[0];
  if (first)
    problem.message = first[0] === 'errors' ? first[1].join(' ') : `${first[0]}: ${first[1].join(' ')}`;
  return problem;
}

/** Returns whether a request may succeed when it is repeated unchanged. */
export function isRetryable(problem: Problem): boolean {
  return problem.status === 0 || problem.status >= 500 || problem.status === 429;
}

/** No response arrived: the network, or a server that is down. */
export function networkProblem(): Problem {
  return { status: 0, message: '', fields: {}, requestId: null, retryAfter: null, data: null };
}

/** A sentence for users, even if no response arrived. */
export function messageOf({ message }: Problem): string {
  return message || t.common.offline;
}

/** The problem without the errors of a field that the user has edited; null if no errors remain. */
export function withoutField(problem: Problem | null, field: string): Problem | null {
  if (!problem || !(field in problem.fields)) return problem;
  const fields = Object.fromEntries(Object.entries(problem.fields).filter(([name]) => name !== field));
  return Object.keys(fields).length === 0 ? null : { ...problem, fields };
}

/** The messages about a value: those of its own path and of the paths below it. */
export function errorsBelow(errors: FieldErrors, path: string): string[] {
  return Object.entries(errors).flatMap(([key, messages]) =>
    key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`) ? messages : [],
  );
}

function seconds(value: string | null): number | null {
  const number = Number(value);
  return value !== null && Number.isFinite(number) ? number : null;
}

/** The top-level property of a path: `list` of `list[0].name`. */
export function topLevelName(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
