// Webhooks: why deliveries fail, what was sent, replays, and switching them off.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from '../server';
import { expect, expectAccessible, open, test } from '../support';

async function addWebhook(server: Server, more: Record<string, unknown>): Promise<void> {
  const hook = {
    id: 'build-site',
    name: 'Build the site',
    type: 'async',
    content_type_definitions: [],
    actions: [{ action: 'Update' }],
    headers: [],
    enabled: true,
    ...more,
  };
  await server.send('POST', '/api/v1/content/_webhooks', hook);
}

/** A program that receives deliveries, and responds with `status` until `respondWith` sets another one. */
async function receive(status: number, body: string) {
  let now = status;
  const receiver = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(now, { 'Content-Type': 'application/json' });
      response.end(body);
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const { port } = receiver.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/build`,
    respondWith: (other: number) => (now = other),
    close: () => receiver.close(),
  };
}

test.describe('with webhooks to this machine', () => {
  test.use({
    options: { environment: { CMS_WEBHOOK_ALLOW_PRIVATE: 'true', CMS_WEBHOOK_ALLOW_HTTP: 'true' } },
  });

  test('shows why a webhook fails, and replays deliveries', async ({ page, server }) => {
    // Nothing listens on port 9.
    await addWebhook(server, { url: 'https://127.0.0.1:9/hook' });
    await open(page, 'webhooks');
    await expect(page.getByText('Active')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Build the site' }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(page.getByText('A test delivery is on its way.')).toBeVisible();
    const row = page.getByRole('listitem').filter({ hasText: 'Test' });
    await expect(row.getByText('Failed, will be retried')).toBeVisible();
    await expect(row.getByText(/1 attempt · next attempt/)).toBeVisible();
    await row.getByText('No response.').click();
    await expect(row.getByText('"action": "Test"')).toBeVisible();
    await expectAccessible(page);

    await row.getByRole('button', { name: /^Replay/ }).click();
    await expect(row.getByText(/[12] attempts?/)).toBeVisible();
    await row.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Replay 1 selected' }).click();
    await expect(row.getByRole('checkbox')).not.toBeChecked();
    await page.getByLabel('Show', { exact: true }).selectOption('Delivered');
    await expect(row).toHaveCount(0);
    await page.getByLabel('Show', { exact: true }).selectOption('All states');
    await page.getByRole('button', { name: 'Replay all failed' }).click();
    await expect(page.getByText('1 delivery is sent again.').last()).toBeVisible();

    await page.getByText('How to verify the signature').click();
    await page.getByRole('button', { name: 'Show secret' }).click();
    await expect(page.getByLabel('Signing secret')).toHaveValue(/^whsec_/);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Edit' }).click();
    await expect(page.getByLabel(/^Name/)).toHaveValue('Build the site');
  });

  test('shows request and response, and selects deliveries to replay', async ({ page, server }) => {
    const receiver = await receive(422, '{"error":"no branch named main"}');
    await addWebhook(server, {
      url: receiver.url,
      headers: [{ header_name: 'X-Site', header_value: 'hidden' }],
    });
    await server.request('PATCH', '/api/v1/content/product/batch', [
      { id: 'tidewater', price: 12 },
      { id: 'slow-kettle', price: 13 },
    ]);
    await open(page, 'webhooks/build-site');
    await expect(page.getByText('X-Site: ••••••')).toBeVisible();
    await expect(page.getByRole('listitem').getByText('Failed, will be retried')).toHaveCount(2);
    const row = page.getByRole('listitem').filter({ hasText: 'tidewater' });
    await expect(row.getByText(/1 attempt · next attempt .*the response has status 422/)).toBeVisible();
    await row.locator('summary').click();
    const part = (name: string) => row.getByRole('region', { name });
    await expect(part('Headers of the request')).toContainText(/webhook-id: msg_/);
    await expect(part('Headers of the request')).toContainText('x-site: ********');
    await expect(part('Headers of the response')).toContainText('content-type: application/json');
    await expect(row.getByText(/^\d+ ms$/)).toBeVisible();
    await expect(part('Body of the request')).toContainText('"price": 12');
    await expect(part('Body of the response')).toContainText('no branch named main');
    await expect(row.getByRole('link', { name: 'Product: tidewater' })).toHaveAttribute(
      'href',
      '/admin/c/product/tidewater',
    );
    await expectAccessible(page);
    receiver.respondWith(200);
    await page.getByLabel('Select all that are shown').check();
    await page.getByRole('button', { name: 'Replay 2 selected' }).click();
    await expect(page.getByText('2 deliveries are sent again.')).toBeVisible();
    await expect(page.getByRole('listitem').getByText('Delivered')).toHaveCount(2);
    await page.setViewportSize({ width: 320, height: 700 });
    await page.evaluate(() => scrollTo(0, 0));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    receiver.close();
  });

  test('switches a webhook off and on', async ({ page, server }) => {
    await addWebhook(server, { url: 'https://127.0.0.1:9/hook' });
    await open(page, 'webhooks/build-site');
    await page.getByRole('button', { name: 'Switch off' }).click();
    await expect(page.getByText('The webhook is off.')).toBeVisible();
    await expect(page.getByText('Disabled')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Switch on' })).toBeFocused();
    await page.getByRole('button', { name: 'Switch on' }).click();
    await expect(page.getByText('The webhook is on.')).toBeVisible();
    await expect(page.getByText('Active')).toBeVisible();
    await page.getByText('Equivalent commands').click();
    await expect(page.getByLabel('replay', { exact: true })).toHaveValue(
      /^cms webhook replay build-site --server http/,
    );
    await expectAccessible(page);
  });
});

test('chooses the types and actions of a webhook, and hides the values of its headers', async ({
  page,

  server,
}) => {
  await open(page, 'c/_webhooks/+new');
  await page.getByLabel(/^Name/).first().fill('Build');
  await page.getByLabel(/^Url/).fill('https://site.example/build');
  const types = page.getByRole('combobox', { name: /content.type.definitions: search/i });
  await types.fill('post');
  await page.getByRole('option', { name: 'Post', exact: true }).click();
  const actions = page.getByRole('combobox', { name: /actions: search/i });
  for (const action of ['Unpublish', 'Delete']) {
    await actions.fill(action);
    await page.getByRole('option', { name: action, exact: true }).click();
  }
  await actions.press('Escape');
  const headers = page.getByRole('group', { name: /^Headers/ });
  await headers.getByRole('button', { name: /add/i }).click();
  await headers.getByLabel(/header.name/i).fill('X-Build');
  const value = headers.getByLabel(/header.value/i).first();
  await expect(value).toHaveAttribute('type', 'password');
  await value.fill('secret');
  await expectAccessible(page);
  await page.getByRole('button', { name: /^(Save|Create)/ }).click();
  await expect(page.getByText('Saved as version 1.')).toBeVisible();
  const found = await server.request('GET', '/api/v1/content/_webhooks?limit=10');
  expect(await found.json()).toMatchObject({
    data: [
      {
        content_type_definitions: [{ content_type_definition_name: 'post' }],
        actions: [{ action: 'Unpublish' }, { action: 'Delete' }],
        headers: [{ header_name: 'X-Build', header_value: 'secret' }],
        enabled: true,
      },
    ],
  });
});
