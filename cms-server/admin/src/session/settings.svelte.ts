// Settings of the user, kept on the server: own views, density, shortcuts. One JSON object, in which each
// area of the page has a member of its own. Knows no screen.
import { sendRequest, api } from '../api/client';
import type { Problem } from '../api/problem';
import { isRecord } from '../value/record';

export type Settings = Record<string, unknown>;

let value = $state.raw<Settings>({});
let etag: string | null = null;
let reading: Promise<Problem | null> | null = null;

export const settings = {
  /** All settings; empty before they are read. */
  get all(): Settings {
    return value;
  },
  /** A member of the settings, as an object. */
  area(name: string): Settings {
    const area = value[name];
    return isRecord(area) ? area : {};
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
  value = isRecord(result.data) ? result.data : {};
  etag = result.etag;
  return null;
}

/**
 * Changes an area of the settings, shows the change immediately, and stores the settings. If another tab has
 * stored settings meanwhile, the change is made to those.
 */
export async function changeSettings(
  name: string,
  change: (area: Settings) => Settings,
): Promise<Problem | null> {
  const unread = await loadSettings();
  if (unread) return unread;
  for (let attempt = 0; ; attempt += 1) {
    const next = { ...value, [name]: change(settings.area(name)) };
    value = next;
    const result = await sendRequest(
      api.PUT('/api/v1/session/settings', {
        ...(etag === null ? {} : { params: { header: { 'If-Match': etag } } }),
        body: next,
      }),
    );
    if (!('problem' in result)) {
      etag = result.etag;
      return null;
    }
    if (result.problem.status !== 412 || attempt >= 3) return result.problem;
    const problem = await read();
    if (problem) return problem;
  }
}
