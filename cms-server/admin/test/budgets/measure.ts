// What the budgets measure with: types with many properties, a slowed processor, the time of a key press.
import type { CDPSession, Page } from '@playwright/test';
import type { Server } from '../server';
import { typeDefinition } from '../types';
import { expect } from '../support';

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

export async function create(server: Server, type: unknown): Promise<void> {
  const response = await server.request('POST', '/api/v1/internal/contenttype', type);
  expect(response.status, await response.clone().text()).toBe(200);
}

export function percentile95(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Infinity;
}

export async function slowed(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  return session;
}

/** Milliseconds from each key press to the frame that shows it. */
export async function keyPresses(page: Page, count: number): Promise<number[]> {
  await page.evaluate(() => {
    const times: number[] = [];
    const end = new AbortController();
    Object.assign(globalThis, { keyTimes: times, endKeys: end });
    const measure = () => {
      const start = performance.now();
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => times.push(performance.now() - start);
        channel.port2.postMessage(null);
      });
    };
    addEventListener('keydown', measure, { capture: true, signal: end.signal });
  });
  for (let index = 0; index < count; index += 1) await page.keyboard.press('a', { delay: 30 });
  await page.waitForTimeout(500);
  return page.evaluate(() => {
    const { keyTimes, endKeys } = globalThis as unknown as { keyTimes: number[]; endKeys: AbortController };
    endKeys.abort();
    return keyTimes;
  });
}
