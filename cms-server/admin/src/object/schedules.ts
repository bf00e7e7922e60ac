// Changes of the schedule of an object that is not open. Sends requests; imports no component.
import { api, sendRequest, type ApiResult } from '../api/client';
import { networkProblem } from '../api/problem';
import { t } from '../text';
import { readObject, type StoredObject } from './object-requests';

/** What the user has seen: the time, and the version that is published then. */
export interface SeenSchedule {
  /** Null after the schedule was cancelled. */
  scheduledAt: string | null;
  /** Unknown in a list of schedules: there the time is enough, because every edit cancels a schedule. */
  version?: number | undefined;
}

export interface LocalTime {
  scheduledAt: string;
  timeZone: string;
}

/** Sets another time, or removes it with null. The server refuses it if the object has changed since the user saw it. */
export async function changeSchedule(
  type: string,
  id: string,
  seen: SeenSchedule,
  to: LocalTime | null,
): Promise<ApiResult<SeenSchedule>> {
  const current = await readObject(type, id);
  if ('problem' in current) return current;
  const { scheduledAt = null, latestVersion } = current.data.internal ?? {};
  const isSeen =
    scheduledAt === seen.scheduledAt && (seen.version === undefined || latestVersion === seen.version);
  if (!isSeen) return changedMeanwhile();
  const params = {
    path: { contentType: type, id },
    header: current.etag ? { 'If-Match': current.etag } : {},
  };
  const path = '/api/v1/content/{contentType}/{id}/schedule';
  const changed =
    to === null
      ? await sendRequest<unknown>(api.DELETE(path, { params }))
      : await sendRequest<unknown>(api.PUT(path, { params, body: to }));
  if ('problem' in changed) return changed.problem.status === 412 ? changedMeanwhile() : changed;
  const stored = to === null ? null : ((changed.data as StoredObject).internal?.scheduledAt ?? null);
  return { ...changed, data: { scheduledAt: stored, version: latestVersion } };
}

function changedMeanwhile(): { problem: ReturnType<typeof networkProblem> } {
  return { problem: { ...networkProblem(), status: 412, message: t.schedule.changedMeanwhile } };
}
