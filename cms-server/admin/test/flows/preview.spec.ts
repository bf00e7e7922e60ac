// The site beside the form: a small front end on another origin, as the how-to describes it.
import { readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { Server } from '../server';
import { expect, expectAccessible, open, test as base } from '../support';
import { changeType } from '../types';

/** The code of the guide to previews: reading with the token, and following each save in two ways. */
const guide = readFileSync(new URL('../../../../docs/preview.md', import.meta.url), 'utf8');
const [read = '', stream = '', messages = ''] = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(
  ([, code]) => code,
);

type Follows = 'not' | 'stream' | 'messages';

function script(follows: Follows): string {
  const shown = `
    const id = location.pathname.split('/').pop();
    const show = (text) => document.querySelector('h1').textContent = text;
    async function readAgain() {
      ${read}
      if (response.ok) show((await response.json()).title);
    }`;
  const token = `const token = new URL(location.href).searchParams.get('token');`;
  const following = { not: '', stream: token + stream, messages };
  return `${shown} await readAgain(); ${following[follows]}`;
}

/** A front end on another origin with the code of the guide. */
async function frontEnd(cms: () => string, follows: Follows): Promise<{ url: string; http: HttpServer }> {
  const http = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    const code = script(follows).replaceAll('https://cms.example.com', cms());
    response.end(`<!doctype html><html lang="en"><title>Site</title><h1></h1><input aria-label="Search the site">
      <script type="module">${code}</script></html>`);
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`, http };
}

const test = base.extend<{ follows: Follows; site: string }>({
  follows: ['not', { option: true }],
  site: async ({ follows }, use) => {
    const started = await frontEnd(() => address, follows);
    await use(started.url);
    started.http.close();
  },
  server: async ({ site }, use) => {
    const server = new Server({ environment: { CMS_PREVIEW_ORIGINS: site } });
    await server.start();
    address = server.url;
    await use(server);
    await server.remove();
  },
});
let address = '';

async function openPost(page: Page, server: Server, site: string): Promise<void> {
  await changeType(server, 'post', ({ metaDefinition }) => {
    metaDefinition.admin = { ...metaDefinition.admin, previewUrl: `${site}/post/{id}?token={token}` };
  });
  await open(page, 'c/post/the-ten-oclock-boat');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
}

const heading = (page: Page) => page.frameLocator('iframe[title="Preview"]').getByRole('heading');

test('shows the saved draft beside the form, and again after each save', async ({ page, server, site }) => {
  await openPost(page, server, site);
  await expect(page).toHaveURL(/preview=1/);
  await expect(heading(page)).toHaveText('The ten o’clock boat');
  await page.getByLabel('Title', { exact: false }).first().fill('The midnight boat');
  await expect(page.getByText('without your unsaved changes')).toBeVisible();
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(heading(page)).toHaveText('The midnight boat');
  await page.getByLabel('Width of the preview').selectOption('Phone');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close the preview' }).click();
  await expect(page.getByRole('button', { name: 'Preview', exact: true })).toHaveAttribute(
    'aria-pressed',
    'false',
  );
  await page.goBack();
  await expect(heading(page)).toHaveText('The midnight boat');
});

test('fills the window of a phone, and returns to the form', async ({ page, server, site }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await openPost(page, server, site);
  await expect(heading(page)).toBeInViewport();
  const close = page.getByRole('button', { name: 'Close the preview' });
  await expect(close).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Preview', exact: true })).toBeFocused();
});

test.describe('a site that gets messages', () => {
  test.use({ follows: 'messages' });
  test('is not loaded again, and keeps its place', async ({ page, server, site }) => {
    await openPost(page, server, site);
    await expect(heading(page)).toHaveText('The ten o’clock boat');
    const search = page.frameLocator('iframe[title="Preview"]').getByLabel('Search the site');
    await search.fill('kettle');
    await page.getByLabel('Title', { exact: false }).first().fill('The midnight boat');
    await page.getByRole('button', { name: /^Save/ }).click();
    await expect(heading(page)).toHaveText('The midnight boat');
    await expect(search).toHaveValue('kettle');
  });
});

test.describe('a site that reads the stream of changes', () => {
  test.use({ follows: 'stream' });
  test('reads the draft again after each save, also in a tab', async ({ page, server, site }) => {
    await openPost(page, server, site);
    const address = await page.locator('iframe[title="Preview"]').getAttribute('src');
    const tab = await page.context().newPage();
    await tab.goto(address ?? '');
    await expect(tab.getByRole('heading')).toHaveText('The ten o’clock boat');
    const streams = tab.waitForResponse(/\/api\/v1\/changes\?/);
    await tab.reload();
    await streams;
    await server.request('PATCH', '/api/v1/content/post/the-ten-oclock-boat', { title: 'The midnight boat' });
    await expect(tab.getByRole('heading')).toHaveText('The midnight boat');
  });
});
