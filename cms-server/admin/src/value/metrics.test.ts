// Metrics are read by name and label.
import { expect, test } from 'vitest';
import { parseMetrics, sumOf } from './metrics';

const TEXT = `# HELP requests Requests
requests{route="/a",status="200"} 3
requests{route="/b \\"x\\"",status="500"} 2
free_bytes 1.5e3
broken
`;

test('reads samples with their labels', () => {
  const samples = parseMetrics(TEXT);
  expect(samples).toHaveLength(3);
  expect(samples[1]?.labels.route).toBe('/b "x"');
  expect(sumOf(samples, 'requests')).toBe(5);
  expect(sumOf(samples, 'requests', ({ status }) => status === '500')).toBe(2);
  expect(sumOf(samples, 'free_bytes')).toBe(1500);
  expect(sumOf(samples, 'missing')).toBe(0);
});
