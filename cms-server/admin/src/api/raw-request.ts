// Requests that the generated client does not know: operations chosen at run time, and probes. Returns the
// response unparsed. Sends HTTP requests; does not import Svelte.
import { parsedJson } from '../value/json';
import { userHeaders } from './client';
import { networkProblem, ProblemError, problemOf, type Problem } from './problem';

export interface RawRequest {
  method: string;
  /** Path and query on this server. */
  path: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal;
  /** False requests what readers get: published versions only. */
  preview?: boolean;
}

export interface RawResponse {
  /** HTTP status; 0 when no response arrived. */
  status: number;
  headers: [string, string][];
  text: string;
  /** Duration of the request. */
  ms: number;
}

/** Why a request did not succeed. */
export function rawProblem({ status, headers, text }: RawResponse): Problem {
  if (status === 0) return networkProblem();
  return problemOf(new Response(null, { status, headers }), parsedJson(text));
}

/** Sends a request with the rights of the session. Never rejects, except when it was aborted. */
export async function sendRaw({
  method,
  path,
  headers,
  body,
  signal,
  preview = true,
}: RawRequest): Promise<RawResponse> {
  const started = performance.now();
  const { 'X-MODE': _preview, ...withoutPreview } = userHeaders();
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: { ...(preview ? userHeaders() : withoutPreview), ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: [...response.headers],
      text,
      ms: performance.now() - started,
    };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return { status: 0, headers: [], text: '', ms: performance.now() - started };
  }
}

/** The body of a GET request; throws unless the status is 200. */
export async function readText(path: string, signal: AbortSignal): Promise<string> {
  const response = await sendRaw({ method: 'GET', path, signal });
  if (response.status !== 200) throw new ProblemError(rawProblem(response));
  return response.text;
}
