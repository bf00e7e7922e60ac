// Reads the change feed of the server: as a stream of events, or in pages if the server refuses a stream.
import { sendRequest, api, userHeaders } from './client';
import { EventParser } from './event-parser';
import { isRecord } from '../value/record';

/** Something happened to an object, or to a content type (then `id` is null). */
export interface Change {
  action: string;
  contentType: string;
  id: string | null;
  version: number | null;
  /** Name of the user or key that made the change; may be empty. */
  by: string;
  byId: string | null;
}

/** A tab that has an object open. */
export interface Presence {
  tab: string;
  contentType: string;
  id: string;
  property: string | null;
  by: string;
  byId: string | null;
  ended: boolean;
}

export interface FeedListener {
  /** The stream is open. */
  onopen: () => void;
  onchange: (change: Change) => void;
  onpresence: (presence: Presence) => void;
  /** The position after the last event that has arrived. */
  onposition: (position: string) => void;
}

/** Reads the stream from a position. Returns `ended` after the end of the stream, else the HTTP status of an error. The
 * status is 0 if there was no response, if the response is no stream, or if the stream broke. */
export async function readEventStream(
  since: string | null,
  signal: AbortSignal,
  listener: FeedListener,
): Promise<{ ended: true } | { status: number }> {
  try {
    const response = await fetch('/api/v1/changes?presence=1', {
      headers: {
        ...userHeaders(),
        Accept: 'text/event-stream',
        ...(since === null ? {} : { 'Last-Event-ID': since }),
      },
      cache: 'no-store',
      signal,
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!response.ok || !isStream || !response.body) return { status: response.ok ? 0 : response.status };
    listener.onopen();
    await readBody(response.body, listener);
    return { ended: true };
  } catch {
    return { status: 0 };
  }
}

/** The server sends something every 15 seconds: after a silence of this length, the connection is dead. */
const MAX_SILENCE_MS = 45_000;

async function readBody(body: ReadableStream<Uint8Array>, listener: FeedListener): Promise<void> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const next = async () => {
    const silence = setTimeout(() => void reader.cancel(), MAX_SILENCE_MS);
    try {
      return await reader.read();
    } finally {
      clearTimeout(silence);
    }
  };
  for (let chunk = await next(); !chunk.done; chunk = await next()) {
    for (const { id, event, data } of parser.push(decoder.decode(chunk.value, { stream: true }))) {
      if (data !== '') dispatch(event, data, listener);
      if (id !== null) listener.onposition(id);
    }
  }
}

function dispatch(event: string, data: string, listener: FeedListener): void {
  const value: unknown = JSON.parse(data);
  if (event === 'presence') {
    const presence = presenceOf(value);
    if (presence) listener.onpresence(presence);
    return;
  }
  const change = changeOf(value);
  if (change) listener.onchange(change);
}

/** A page of changes; null if it could not be read, `expired` if the server no longer knows the position. */
export async function readChanges(
  since: string | null,
): Promise<{ changes: Change[]; next: string } | 'expired' | null> {
  const query = since === null ? {} : { since, limit: 1000 };
  const result = await sendRequest(api.GET('/api/v1/changes', { params: { query } }));
  if ('problem' in result) return result.problem.status === 410 ? 'expired' : null;
  const page: unknown = result.data;
  if (!isRecord(page) || !Array.isArray(page.data) || typeof page.next !== 'string') return null;
  return { changes: page.data.flatMap((item) => changeOf(item) ?? []), next: page.next };
}

function changeOf(value: unknown): Change | null {
  if (!isRecord(value) || typeof value.action !== 'string' || typeof value.contentType !== 'string')
    return null;
  const version = Number(value.version);
  return {
    action: value.action,
    contentType: value.contentType,
    id: typeof value.id === 'string' ? value.id : null,
    version: Number.isFinite(version) ? version : null,
    ...authorOf(value.by),
  };
}

function presenceOf(value: unknown): Presence | null {
  if (!isRecord(value)) return null;
  const { tab, contentType, id, property } = value;
  if (typeof tab !== 'string' || typeof contentType !== 'string' || typeof id !== 'string') return null;
  return {
    tab,
    contentType,
    id,
    property: typeof property === 'string' ? property : null,
    ...authorOf(value.by),
    ended: value.ended === true,
  };
}

function authorOf(by: unknown): { by: string; byId: string | null } {
  if (!isRecord(by)) return { by: '', byId: null };
  return {
    by: typeof by.name === 'string' ? by.name : '',
    byId: typeof by.id === 'string' ? by.id : null,
  };
}
