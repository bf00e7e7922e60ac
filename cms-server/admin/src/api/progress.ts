// Long requests whose response is a stream: events that report progress, then the result. A server that does not
// stream responds with JSON. Sends HTTP requests; does not import Svelte.
import { isRecord } from '../value/record';
import { EventParser, type ServerEvent } from './event-parser';
import { networkProblem, problemOf } from './problem';
import type { ApiResult } from './client';

/** How much of the work on a type is done. */
export interface Progress {
  type: string;
  phase: string;
  done: number;
  total: number;
}

/** For `api.POST`: asks for a stream, and leaves the body of the response unread. */
export const STREAMED = { headers: { Accept: 'text/event-stream' }, parseAs: 'stream' } as const;

interface Streamed {
  data?: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  error?: unknown;
  response: Response;
}

/**
 * Waits for a request with `STREAMED`. A stream that ends without a result is a problem of the network. Never
 * rejects, except when the request was aborted.
 */
export async function sendWithProgress<T>(
  request: Promise<Streamed>,
  onprogress: (progress: Progress) => void,
): Promise<ApiResult<T>> {
  try {
    const { data, error, response } = await request;
    if (!response.ok || !data) return { problem: problemOf(response, error) };
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
      return resultOf(response, response.status, await new Response(data).json());
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for (const reader = data.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return { problem: networkProblem() };
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        const body = parsed(event);
        if (isProgress(event, body)) onprogress(body);
        if (event.event === 'result' && isRecord(body) && typeof body.status === 'number')
          return resultOf(response, body.status, body.body);
      }
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return { problem: networkProblem() };
  }
}

function resultOf<T>(response: Response, status: number, body: unknown): ApiResult<T> {
  if (status >= 200 && status < 300) return { data: body as T, etag: null };
  return { problem: problemOf(new Response(null, { status, headers: response.headers }), body) };
}

function parsed({ data }: ServerEvent): unknown {
  return data === '' ? null : JSON.parse(data);
}

function isProgress({ event }: ServerEvent, body: unknown): body is Progress {
  return (
    event === 'progress' && isRecord(body) && typeof body.done === 'number' && typeof body.total === 'number'
  );
}
