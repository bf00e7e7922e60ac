// Requests by route, from metrics: where a server spends its time. Imports no component.
import type { Sample } from './metrics';

export interface RouteMetrics {
  name: string;
  requests: number;
  failed: number;
  /** Total duration of its requests, in seconds. */
  seconds: number;
  /** The 95th percentile of the durations, in seconds: the upper bound of its histogram bucket. */
  p95: number;
}

/** Routes by the time that they took, longest first. */
export function routeMetrics(samples: readonly Sample[]): RouteMetrics[] {
  const routes = new Map<string, RouteMetrics & { buckets: Map<number, number> }>();
  for (const { name, labels, value } of samples) {
    if (!name.startsWith('cms_http_request') || labels.route === undefined) continue;
    const key = `${labels.method ?? ''} ${labels.route}`;
    const route = routes.get(key) ?? {
      name: key,
      requests: 0,
      failed: 0,
      seconds: 0,
      p95: 0,
      buckets: new Map<number, number>(),
    };
    routes.set(key, route);
    if (name === 'cms_http_requests_total') {
      route.requests += value;
      if (labels.status?.startsWith('5')) route.failed += value;
    } else if (name.endsWith('_seconds_sum')) route.seconds += value;
    else if (name.endsWith('_seconds_bucket')) {
      const limit = labels.le === '+Inf' ? Infinity : Number(labels.le);
      route.buckets.set(limit, (route.buckets.get(limit) ?? 0) + value);
    }
  }
  return [...routes.values()]
    .map(({ buckets, ...route }) => ({ ...route, p95: percentile(buckets, 0.95) }))
    .sort((a, b) => b.seconds - a.seconds);
}

/** The upper bound of the first bucket that holds at least this share of all values; buckets are cumulative. */
function percentile(buckets: Map<number, number>, share: number): number {
  const all = buckets.get(Infinity) ?? 0;
  const limits = [...buckets].sort(([a], [b]) => a - b);
  return limits.find(([, count]) => count >= all * share)?.[0] ?? Infinity;
}
