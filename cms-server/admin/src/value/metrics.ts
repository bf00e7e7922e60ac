// Metrics in the text format of Prometheus.
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of a text; lines that are none are left out. */
export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const found = LINE.exec(line);
    const value = Number(found?.[3]);
    if (found?.[1] === undefined || Number.isNaN(value)) return [];
    const labels: Record<string, string> = {};
    for (const [, name = '', content = ''] of (found[2] ?? '').matchAll(LABEL))
      labels[name] = content.replace(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char));
    return [{ name: found[1], labels, value }];
  });
}

/** The sum of the samples of a name whose labels fit; 0 when there is none. */
export function sumOf(
  samples: Sample[],
  name: string,
  fits: (labels: Sample['labels']) => boolean = () => true,
): number {
  return samples
    .filter((sample) => sample.name === name && fits(sample.labels))
    .reduce((sum, sample) => sum + sample.value, 0);
}
