/** Follows the change feed over server-sent events. */

import { CmsError, UnavailableError, UnexpectedResponseError } from "./errors.js";
import type { Author } from "./content.js";
import { wait, type Request, type Transport, type View } from "./transport.js";

/** A change of an object or of a content type. It says that something happened: read the object for its values. */
export interface Change<Type extends string = string> {
  seq: number;
  at: string;
  action:
    | "create"
    | "update"
    | "delete"
    | "publish"
    | "unpublish"
    | "archive"
    | "schedule"
    | "transition"
    | "type.create"
    | "type.update"
    | "type.delete"
    | "type.purge";
  contentType: Type;
  /** The object; missing in changes of a content type. */
  id?: string;
  version?: number;
  by: Author;
  /** The position after this change, for `since`. */
  position: string;
}

export interface ChangeOptions<Type extends string = string> {
  types?: readonly Type[];
  /** The position of the last change that was handled; without it, changes from now on. */
  since?: string;
  view?: View;
  signal?: AbortSignal;
}

const PATH = "/api/v1/changes";

/** The server sends something at least every 15 seconds. */
const SILENCE_MILLISECONDS = 45_000;
const RECONNECT_MILLISECONDS = 1000;

/** Yields each change once and in order; connects again when the connection or the server ends. */
export async function* follow<Type extends string>(
  transport: Transport,
  { types = [], since, view, signal }: ChangeOptions<Type>,
): AsyncGenerator<Change<Type>, void, undefined> {
  const query = types.map((type) => ["types[]", type] as const);
  let position = since ?? (await current(transport, view, signal));
  for (;;) {
    let delay = RECONNECT_MILLISECONDS;
    try {
      for await (const event of events(transport, { query, position, view, signal })) {
        position = event.id;
        if (event.data) yield { ...(JSON.parse(event.data) as Change<Type>), position };
      }
    } catch (error) {
      signal?.throwIfAborted();
      // The server refuses the request, and would refuse it again.
      if (error instanceof CmsError && !(error instanceof UnavailableError) && error.status < 500) throw error;
      if (error instanceof UnavailableError) delay = Math.max(delay, (error.retryAfter ?? 0) * 1000);
    }
    await wait(delay, signal);
  }
}

/** The position after the newest change. */
async function current(transport: Transport, view?: View, signal?: AbortSignal): Promise<string> {
  const request: Request = { method: "GET", path: PATH, view, signal };
  const page = await transport.json<{ next: string }>(await transport.send(request), request);
  return page.next;
}

interface Connection {
  query: readonly (readonly [string, string])[];
  position: string;
  view: View | undefined;
  signal: AbortSignal | undefined;
}

/** The events of one connection, until it ends. */
async function* events(
  transport: Transport,
  { query, position, view, signal }: Connection,
): AsyncGenerator<{ id: string; data: string }, void, undefined> {
  // A connection can break without an end of the stream: then nothing arrives any more.
  const silence = new AbortController();
  const ended = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  const restart = () => setTimeout(() => silence.abort(new Error("the stream is silent")), SILENCE_MILLISECONDS);
  let timer = restart();
  try {
    const headers = { accept: "text/event-stream", "last-event-id": position };
    const response = await transport.send({ method: "GET", path: PATH, query, headers, view, signal: ended });
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      const message = "the response is no event stream: does the URL lead to a cms server?";
      throw new UnexpectedResponseError(message, response.status, `GET ${PATH}`, await response.text());
    }
    const decoder = new TextDecoder();
    let [text, id, data] = ["", position, ""];
    if (!response.body) return;
    const reader = response.body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = restart();
        const lines = (text + decoder.decode(value, { stream: true })).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines.map((line) => line.replace(/\r$/, ""))) {
          if (line.startsWith("id:")) id = line.slice(3).trim();
          else if (line.startsWith("data:")) data += line.slice(5).trimStart();
          else if (line === "") {
            yield { id, data };
            data = "";
          }
        }
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } finally {
    clearTimeout(timer);
  }
}
