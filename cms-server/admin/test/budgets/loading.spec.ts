// Budgets of a first load over a slow network: nothing is in the cache of the browser.
import type { Page } from '@playwright/test';
import { expect, signIn, test } from '../support';

const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
const RUNS = 5;
const MAX_LIST_MS = 2500;

/** Milliseconds until `shown` is on the screen, the median of some loads. */
async function load(page: Page, url: string, shown: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    await page.goto('about:blank');
    const start = Date.now();
    await page.goto(url, { waitUntil: 'commit' });
    await shown();
    times.push(Date.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}

test('first load over a slow network', async ({ page }) => {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Network.emulateNetworkConditions', NETWORK);
  const report: Record<string, number> = {};
  report['sign-in, ms'] = await load(page, '/admin', () => page.getByLabel('E-mail').waitFor());
  await session.send('Network.emulateNetworkConditions', { ...NETWORK, latency: 0, downloadThroughput: -1 });
  await page.goto('/admin');
  await signIn(page);
  await session.send('Network.emulateNetworkConditions', NETWORK);
  report['home, ms'] = await load(page, '/admin', () =>
    page.getByRole('region', { name: 'Content types' }).getByText(/\d/).first().waitFor(),
  );
  report['list, ms'] = await load(page, '/admin/c/post', () => page.getByRole('row').nth(5).waitFor());
  report['new object, ms'] = await load(page, '/admin/c/post/+new', () =>
    page.getByRole('main').getByRole('textbox').first().waitFor(),
  );
  console.log(report);
  expect(report['list, ms']).toBeLessThan(MAX_LIST_MS);
});
