// Routes from metrics.
import { expect, test } from 'vitest';
import { parseMetrics } from './metrics';
import { routeMetrics } from './route-metrics';

test('routes are ordered by their time, and have a 95th percentile', () => {
  const text = [
    'cms_http_requests_total{method="GET",route="/a",status="200"} 18',
    'cms_http_requests_total{method="GET",route="/a",status="503"} 2',
    'cms_http_request_duration_seconds_bucket{method="GET",route="/a",le="0.01"} 12',
    'cms_http_request_duration_seconds_bucket{method="GET",route="/a",le="0.1"} 19',
    'cms_http_request_duration_seconds_bucket{method="GET",route="/a",le="+Inf"} 20',
    'cms_http_request_duration_seconds_sum{method="GET",route="/a"} 1.5',
    'cms_http_request_duration_seconds_sum{method="PUT",route="/b"} 2',
    'cms_connections 7',
  ].join('\n');
  const [b, a, ...rest] = routeMetrics(parseMetrics(text));
  expect(rest).toEqual([]);
  expect(b?.name).toBe('PUT /b');
  expect(a).toEqual({ name: 'GET /a', requests: 20, failed: 2, seconds: 1.5, p95: 0.1 });
});
