// Settings of the user, kept on the server: own views, density, shortcuts. One JSON object, in which each
// area of the page has a member of its own. Imports no screen.
import { sendRequest, api } from '../api/client';
import type { Problem } from '../api/problem';
import { isRecord } from '../value/record';

export type Settings = Record<string, unknown>;

/** A change of one area that is not stored yet. */
interface Change {
  name: string;
  change: (area: Settings) => Settings;
}

/** What the server has, and its `ETag`. */
let stored: Settings = {};
let etag: string | null = null;
let pending: Change[] = [];
/** The stored settings with the pending changes. */
let value = $state.raw<Settings>({});
let reading: Promise<Problem | null> | null = null;
/** Changes are sent one at a time. */
let sending: Promise<unknown> = Promise.resolve();

function areaOf(all: Settings, name: string): Settings {
  const area = all[name];
  return isRecord(area) ? area : {};
}

function withChange(all: Settings, { name, change }: Change): Settings {
  return { ...all, [name]: change(areaOf(all, name)) };
}

function show(): void {
  value = pending.reduce(withChange, stored);
}

export const settings = {
  /** All settings; empty before they are read. */
  get all(): Settings {
    return value;
  },
  /** A member of the settings, as an object. */
  area(name: string): Settings {
    return areaOf(value, name);
  },
};

/** Reads the settings, once for all callers. */
export function loadSettings(): Promise<Problem | null> {
  reading ??= read().then((problem) => {
    if (problem) reading = null;
    return problem;
  });
  return reading;
}

async function read(): Promise<Problem | null> {
  const result = await sendRequest(api.GET('/api/v1/session/settings'));
  if ('problem' in result) return result.problem;
  stored = isRecord(result.data) ? result.data : {};
  etag = result.etag;
  show();
  return null;
}

/**
 * Changes an area of the settings, shows the change immediately, and stores the settings. If another tab has
 * stored settings meanwhile, `change` is applied to the newer settings. A change that could not be stored is no longer
 * shown. `change` may be called several times, and must use only the area that it gets.
 */
export async function changeSettings(name: string, change: Change['change']): Promise<Problem | null> {
  const unread = await loadSettings();
  if (unread) return unread;
  const one = { name, change };
  pending = [...pending, one];
  show();
  const sent = sending.then(() => send(one));
  sending = sent;
  const problem = await sent;
  pending = pending.filter((other) => other !== one);
  show();
  return problem;
}

async function send(change: Change): Promise<Problem | null> {
  for (let attempt = 0; ; attempt += 1) {
    const body = withChange(stored, change);
    const result = await sendRequest(
      api.PUT('/api/v1/session/settings', {
        ...(etag === null ? {} : { params: { header: { 'If-Match': etag } } }),
        body,
      }),
    );
    if (!('problem' in result)) {
      stored = body;
      etag = result.etag;
      return null;
    }
    if (result.problem.status !== 412 || attempt >= 3) return result.problem;
    const problem = await read();
    if (problem) return problem;
  }
}
