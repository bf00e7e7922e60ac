import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, open, signIn, test } from '../support';

const KIB = 1024;

/** Scripts and style sheets that the page has loaded. */
const loadedFiles = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map((entry) => entry.name)
      .filter((name) => name.includes('/admin/assets/')),
  );

/** Bytes of the scripts and style sheets that the page has loaded, compressed with gzip. */
async function loadedBytes(page: Page): Promise<{ js: number; css: number }> {
  const urls = await loadedFiles(page);
  const sum = { js: 0, css: 0 };
  for (const url of new Set(urls)) {
    const body = await (await page.request.get(url)).body();
    const size = gzipSync(body).length;
    if (url.endsWith('.js')) sum.js += size;
    if (url.endsWith('.css')) sum.css += size;
  }
  return sum;
}

test('first screen is small', async ({ page }) => {
  await signIn(page);
  await page.goto('/admin/c/product');
  await expect(page.getByRole('row').nth(1)).toBeVisible();
  const { js, css } = await loadedBytes(page);
  expect(js).toBeLessThan(90 * KIB);
  expect(css).toBeLessThan(20 * KIB);
});

test('object without rich editors adds little', async ({ page }) => {
  // What is loaded ahead of its use, once the browser is idle, is not counted.
  await page.addInitScript(() => (window.requestIdleCallback = () => 0));
  await signIn(page);
  await page.goto('/admin/c/product');
  await expect(page.getByRole('row').nth(1)).toBeVisible();
  const list = await loadedBytes(page);
  await page.goto('/admin/c/author/+new');
  // The controls of all fields have arrived.
  await expect(page.getByRole('combobox').first()).toBeVisible();
  await expect(page.getByRole('group', { name: 'Portrait' }).getByRole('button').first()).toBeVisible();
  const form = await loadedBytes(page);
  expect(form.js - list.js).toBeLessThan(40 * KIB);
});

test('only the texts of the open screen and of the chosen language are loaded', async ({ page }) => {
  await signIn(page);
  await page.evaluate(() => {
    localStorage.setItem('cms.language', 'de');
  });
  await page.goto('/admin/c/product');
  await expect(page.getByRole('row').nth(1)).toBeVisible();
  const texts = (await loadedFiles(page))
    .map((url) => /assets\/(en|de)-([a-z-]+)-/.exec(url))
    .filter(Boolean);
  expect(new Set(texts.map((match) => match?.[1]))).toEqual(new Set(['de']));
  const areas = texts.map((match) => match?.[2]);
  expect(areas).toEqual(expect.arrayContaining(['common', 'shell', 'list']));
  expect(areas).not.toContain('publishing');
  expect(new Set(areas).size).toBe(areas.length);
});

/** Paths of the requests to the API from now on. */
function apiRequests(page: Page): string[] {
  const requests: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // The stream of changes is opened once per browser, images are content.
    if (pathname.startsWith('/api/') && pathname !== '/api/v1/changes') requests.push(pathname);
  });
  return requests;
}

/** Waits until the page sends no more requests. */
async function expectQuiet(requests: string[]): Promise<void> {
  let before = -1;
  const sent = () => {
    const isMore = requests.length !== before;
    before = requests.length;
    return isMore;
  };
  await expect.poll(sent, { intervals: [400] }).toBe(false);
}

test('list and object need few requests', async ({ page }) => {
  // A screen without requests: those of the frame are sent before it is shown.
  await open(page, 'nothing-here');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const requests = apiRequests(page);
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  for (const type of ['Post', 'Product', 'Event']) {
    requests.length = 0;
    await navigation.getByRole('link', { name: type, exact: true }).click();
    await expect(page.getByRole('heading', { name: type, exact: true })).toBeVisible();
    const row = page.getByRole('row').nth(1).getByRole('link').first();
    await expect(row).toBeVisible();
    await expectQuiet(requests);
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(2);
    requests.length = 0;
    await row.click();
    await expect(page.getByRole('complementary', { name: 'About this object' })).toContainText('local');
    await expectQuiet(requests);
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(3);
  }
});
