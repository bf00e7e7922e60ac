// The metrics of the server that this tab has read in the last half hour; they stay when the screen is left. Imports no component.
import { sumOf, type Sample } from '../../value/metrics';
import type { Point } from '../../value/time-series';

const HISTORY_MS = 30 * 60_000;

type Name = 'requests' | 'seconds' | 'timed' | 'failed' | 'writes' | 'cpu' | 'memory' | 'waiting';
type Reading = { at: number } & Record<Name, number>;

/** Leaves out requests for metrics: this screen sends them, so they would hide the load by others. */
const isOthers = ({ route }: Sample['labels']) => route !== '/metrics';

let readings = $state.raw<Reading[]>([]);
let started = 0;

/** Adds a reading. Readings of an earlier server process are dropped: its counters are not comparable. */
export function recordReading(at: number, samples: Sample[]): void {
  const start = sumOf(samples, 'process_start_time_seconds');
  const kept = start === started ? readings.filter((reading) => reading.at > at - HISTORY_MS) : [];
  started = start;
  if ((kept.at(-1)?.at ?? 0) >= at) return;
  const all = (...names: string[]) => names.reduce((sum, name) => sum + sumOf(samples, name), 0);
  const reading: Reading = {
    at,
    requests: sumOf(samples, 'cms_http_requests_total', isOthers),
    seconds: sumOf(samples, 'cms_http_request_duration_seconds_sum', isOthers),
    timed: sumOf(samples, 'cms_http_request_duration_seconds_count', isOthers),
    failed: sumOf(samples, 'cms_http_requests_total', ({ status }) => status?.startsWith('5') === true),
    writes: all('cms_writes_total'),
    cpu: all('process_cpu_seconds_total'),
    memory: all('process_resident_memory_bytes'),
    waiting: all('cms_readers_waiting', 'cms_writes_waiting', 'cms_permits_waiting'),
  };
  readings = [...kept, reading];
}

export const metricsHistory = {
  pointsOf: (name: Name): Point[] => readings.map((reading) => ({ at: reading.at, value: reading[name] })),
};
