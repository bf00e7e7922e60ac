// The layout of a workflow diagram: states in a row, transitions to earlier states below it. Plain values.
import type { Workflow } from '../../object/workflows';
import { transitionsOf } from '../../object/workflows';

export const BOX_SIZE = { width: 132, height: 36, gap: 48 };
const LEVEL_HEIGHT = 16;
const MARGIN = 8;

export interface DiagramLayout {
  width: number;
  height: number;
  boxes: { name: string; x: number; y: number }[];
  /** Paths of the arrows. */
  arrows: string[];
}

/** Draws each transition between known states once. */
export function layoutOf(workflow: Workflow): DiagramLayout {
  const { states } = workflow;
  const at = (state: string) => states.indexOf(state);
  const steps = transitionsOf(workflow)
    .map(({ from, to }): [number, number] => [at(from), at(to)])
    .filter(([from, to]) => from >= 0 && to >= 0);
  const spans = (fits: (from: number, to: number) => boolean) =>
    Math.max(
      0,
      ...steps.filter(([from, to]) => fits(from, to)).map(([from, to]) => Math.abs(to - from) || 1),
    );
  const above = spans((from, to) => to > from + 1 || to === from);
  const below = spans((from, to) => to < from);
  const room = (levels: number) => (levels === 0 ? MARGIN : (levels + 1) * LEVEL_HEIGHT + MARGIN);
  const top = room(above);
  const bottom = top + BOX_SIZE.height;
  const left = (index: number) => MARGIN + index * (BOX_SIZE.width + BOX_SIZE.gap);
  const middle = (index: number) => left(index) + BOX_SIZE.width / 2;
  const curve = (fromX: number, toX: number, y: number, peak: number) =>
    `M${String(fromX)} ${String(y)}C${String(fromX)} ${String(peak)} ${String(toX)} ${String(peak)} ${String(toX)} ${String(y)}`;
  const arrows = steps.map(([from, to]) => {
    const reach = (Math.abs(to - from) || 1) * LEVEL_HEIGHT * 1.5 + LEVEL_HEIGHT / 2;
    if (to === from) return curve(middle(from) - 18, middle(from) + 18, top, top - reach);
    if (to === from + 1)
      return `M${String(left(from) + BOX_SIZE.width)} ${String(top + BOX_SIZE.height / 2)}H${String(left(to) - 2)}`;
    if (to > from) return curve(middle(from) + 12, middle(to) - 12, top, top - reach);
    return curve(middle(from) - 12, middle(to) + 12, bottom, bottom + reach);
  });
  return {
    width: Math.max(0, left(states.length) - BOX_SIZE.gap + MARGIN),
    height: bottom + room(below),
    boxes: states.map((name, index) => ({ name, x: left(index), y: top })),
    arrows,
  };
}
