// The site beside the form: a small front end on another origin, as the how-to describes it.
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { Server } from '../server';
import { expect, expectAccessible, signIn, test as base } from '../support';

const ADDRESS = /^\/post\/([^/?]+)\?token=([^&]+)/;

/** A front end that reads the draft with the token; `listens`: it reads again when the page says so. */
async function frontEnd(cms: () => string, listens: boolean): Promise<{ url: string; http: HttpServer }> {
  const script = listens
    ? `addEventListener('message', (event) => event.data.type === 'cms-preview-saved' && show());
       parent.postMessage('cms-preview-ready', '*');`
    : '';
  const http = createServer((request, response) => {
    const [, id = '', token = ''] = ADDRESS.exec(request.url ?? '') ?? [];
    const read = `${cms()}/api/v1/content/post/${id}`;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><title>Site</title><h1></h1><input aria-label="Search the site">
      <script>
        async function show() {
          const response = await fetch(${JSON.stringify(read)}, { headers: { 'X-AUTH-TOKEN': ${JSON.stringify(token)} } });
          document.querySelector('h1').textContent = (await response.json()).title;
        }
        show();
        ${script}
      </script></html>`);
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`, http };
}

const test = base.extend<{ listens: boolean; site: string }>({
  listens: [false, { option: true }],
  site: async ({ listens }, use) => {
    const started = await frontEnd(() => address, listens);
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

async function openPost(page: Page, server: Server, site: string, home: string): Promise<void> {
  const path = '/api/v1/internal/contenttype/post';
  const type = (await (await server.request('GET', path)).json()) as {
    metaDefinition: { admin?: Record<string, unknown> };
  };
  type.metaDefinition.admin = {
    ...type.metaDefinition.admin,
    previewUrl: `${site}/post/{id}?token={token}`,
  };
  const put = await server.request('PUT', path, type);
  expect(put.status, await put.clone().text()).toBe(200);
  await page.goto(`${home}/admin/c/post/the-ten-oclock-boat`);
  await signIn(page);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
}

const heading = (page: Page) => page.frameLocator('iframe[title="Preview"]').getByRole('heading');

test('shows the saved draft beside the form, and again after each save', async ({
  page,
  server,
  site,
  home,
}) => {
  await openPost(page, server, site, home);
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

test('fills a phone, and gives the form back', async ({ page, server, site, home }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await openPost(page, server, site, home);
  await expect(heading(page)).toBeInViewport();
  const close = page.getByRole('button', { name: 'Close the preview' });
  await expect(close).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Preview', exact: true })).toBeFocused();
});

test.describe('a site that listens', () => {
  test.use({ listens: true });
  test('is not loaded again, and keeps its place', async ({ page, server, site, home }) => {
    await openPost(page, server, site, home);
    await expect(heading(page)).toHaveText('The ten o’clock boat');
    const search = page.frameLocator('iframe[title="Preview"]').getByLabel('Search the site');
    await search.fill('kettle');
    await page.getByLabel('Title', { exact: false }).first().fill('The midnight boat');
    await page.getByRole('button', { name: /^Save/ }).click();
    await expect(heading(page)).toHaveText('The midnight boat');
    await expect(search).toHaveValue('kettle');
  });
});
