// Helpers of the budgets: types with many properties, the processor time of a key press.
import type { Page } from '@playwright/test';
import { typeDefinition } from '../types';

/** A type with text properties; the first one is the title. */
export function textType(name: string, properties: string[]): unknown {
  const [title = '', ...others] = properties;
  const text = { inputType: 'text' };
  return typeDefinition(
    name,
    name,
    Object.fromEntries([title, ...others].map((property) => [property, text])),
  );
}

export function percentile95(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Infinity;
}

interface TraceEvent {
  name: string;
  ts: number;
  dur?: number;
  /** Processor time in microseconds, without the time in which other programs ran. */
  tdur?: number;
  pid: number;
  tid: number;
  args: { data?: { type?: string } };
}

/**
 * Milliseconds of processor time that the page needs from each key press to the frame that shows it. Other
 * programs on the machine hardly change it, so it holds on a busy machine too.
 */
export async function keyPresses(page: Page, count: number): Promise<number[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('no browser');
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
  for (let index = 0; index < count; index += 1) await page.keyboard.press('a', { delay: 30 });
  await page.waitForTimeout(500);
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString());
  const events = trace.traceEvents.sort((first, second) => first.ts - second.ts);
  const keys = events.filter(({ name, args }) => name === 'EventDispatch' && args.data?.type === 'keydown');
  return keys.map((key) => {
    const ofPage = events.filter(({ pid, tid }) => pid === key.pid && tid === key.tid);
    const frame = ofPage.find(({ name, ts }) => name === 'Layerize' && ts > key.ts);
    const tasks = ofPage.filter(
      ({ name, ts, dur = 0 }) => /RunTask$/.test(name) && ts + dur >= key.ts && ts <= (frame?.ts ?? Infinity),
    );
    return tasks.reduce((sum, task) => sum + (task.tdur ?? Infinity), 0) / 1000;
  });
}
