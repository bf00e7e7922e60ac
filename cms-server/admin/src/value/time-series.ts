// Readings over time: rates of counters, and the lines that charts draw. Knows no metric and no component.
export interface Point {
  /** Milliseconds since 1970. */
  at: number;
  value: number;
}

/** How fast a counter grew between readings, per second. A counter that fell was started again. */
export function perSecond(counter: readonly Point[]): Point[] {
  return changes(counter).flatMap(({ at, seconds, change }) =>
    change < 0 ? [] : [{ at, value: change / seconds }],
  );
}

/** The growth of `counter` divided by that of `steps`, for each reading at which `steps` has grown. */
export function perStep(counter: readonly Point[], steps: readonly Point[]): Point[] {
  const stepsAt = new Map(changes(steps).map(({ at, change }) => [at, change]));
  return changes(counter).flatMap(({ at, change }) => {
    const count = stepsAt.get(at) ?? 0;
    return count <= 0 || change < 0 ? [] : [{ at, value: change / count }];
  });
}

function changes(counter: readonly Point[]): { at: number; seconds: number; change: number }[] {
  return counter.flatMap(({ at, value }, index) => {
    const before = counter[index - 1];
    if (!before || at <= before.at) return [];
    return [{ at, seconds: (at - before.at) / 1000, change: value - before.value }];
  });
}

/** The time range and the maximum value of a chart. */
export interface Frame {
  from: number;
  to: number;
  max: number;
  /** Readings that are further apart are not joined. */
  gap: number;
}

const rounded = (value: number) => String(Math.round(value * 100) / 100);

/** The runs of points without a gap, as coordinates in a box of 100 by 100 that begins at the top left. */
export function runs(points: readonly Point[], { from, to, max, gap }: Frame): [number, number][][] {
  const result: [number, number][][] = [];
  let last = -Infinity;
  for (const { at, value } of points) {
    if (at < from) continue;
    const place: [number, number] = [
      ((at - from) / Math.max(1, to - from)) * 100,
      100 - (max <= 0 ? 0 : Math.min(1, Math.max(0, value / max)) * 100),
    ];
    const run = result.at(-1);
    if (run && at - last <= gap) run.push(place);
    else result.push([place]);
    last = at;
  }
  return result;
}

/** The path of a line through each run; a single reading is a short stroke. */
export function linePath(list: readonly [number, number][][]): string {
  return list
    .map((run) => {
      const [first = [0, 0], ...rest] = run;
      const text = rest.map(([x, y]) => `L${rounded(x)} ${rounded(y)}`).join('');
      return `M${rounded(first[0])} ${rounded(first[1])}${text === '' ? 'h0.5' : text}`;
    })
    .join('');
}

/** The path of the area below each run. */
export function areaPath(list: readonly [number, number][][]): string {
  return list
    .filter((run) => run.length > 1)
    .map((run) => {
      const [start, end] = [run[0]?.[0] ?? 0, run.at(-1)?.[0] ?? 0];
      return `${linePath([run])}L${rounded(end)} 100L${rounded(start)} 100Z`;
    })
    .join('');
}
