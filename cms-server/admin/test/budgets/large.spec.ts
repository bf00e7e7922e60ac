// Budgets with 100,000 objects, and of memory.
import type { Server } from '../server';
import { expect, signIn, test } from '../support';
import { createType } from '../types';
import { percentile95, textType } from './measure';

const OBJECTS = 100_000;
const BATCH = 1000;
const RUNS = 20;

test.use({ options: { content: false } });

async function fill(server: Server, type: string): Promise<void> {
  for (let first = 0; first < OBJECTS; first += BATCH) {
    const objects = Array.from({ length: BATCH }, (_, index) => ({
      title: `Object ${String(first + index)}`,
      body: `words of number ${String((first + index) % 977)} and more`,
    }));
    await server.send('POST', `/api/v1/content/${type}/batch`, objects);
  }
}

test('list of 100,000 objects is shown immediately', async ({ page, server }) => {
  const report: Record<string, number> = {};
  await createType(server, textType('item', ['title', 'body']));
  await fill(server, 'item');
  await signIn(page);
  await page.reload();

  const click: number[] = [];
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  for (let run = 0; run < RUNS; run += 1) {
    await navigation.getByRole('link', { name: 'Home' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    const start = Date.now();
    await navigation.getByRole('link', { name: 'item', exact: true }).click();
    await page.getByRole('row').nth(5).waitFor();
    click.push(Date.now() - start);
  }
  report['click to rows, p95 ms'] = percentile95(click);

  const loads: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const start = Date.now();
    await page.goto('/admin/c/item');
    await page.getByRole('row').nth(5).waitFor();
    loads.push(Date.now() - start);
  }
  report['load of the list, p95 ms'] = percentile95(loads);

  console.log(report);
  expect(report['click to rows, p95 ms']).toBeLessThan(300);
  expect(report['load of the list, p95 ms']).toBeLessThan(1000);
});

test('memory stays constant when objects are opened and closed', async ({ page, server }) => {
  await createType(server, textType('item', ['title', 'body']));
  const objects = Array.from({ length: 50 }, (_, index) => ({ title: `Object ${String(index)}` }));
  await server.send('POST', '/api/v1/content/item/batch', objects);
  await signIn(page);
  await page.reload();
  const session = await page.context().newCDPSession(page);
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  async function openAndClose(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      await navigation.getByRole('link', { name: 'item', exact: true }).click();
      await page
        .getByRole('row')
        .nth(1 + (index % 40))
        .getByRole('link')
        .first()
        .click();
      await page.getByLabel('Title', { exact: true }).waitFor();
    }
    await navigation.getByRole('link', { name: 'Home' }).click();
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize;
  }
  const before = await openAndClose(20);
  const after = await openAndClose(200);
  console.log({ before, after });
  expect(after - before).toBeLessThan(10 * 1024 * 1024);
});
