// Values that nobody touched, and changes of others that nobody has seen.
import { expect, expectAccessible, signIn, test } from '../support';
import type { Server } from '../server';
import { typeDefinition } from '../types';
import { openForm, saveButton, storedObject, withoutLiveUpdates } from '../writing';

const CUSTOM = '{"n":9007199254740993,"f":1.0,"2":2,"1":1}';

async function put(server: Server, path: string, body: unknown): Promise<void> {
  const response = await server.request('PUT', path, body);
  expect(response.status, await response.clone().text()).toBe(200);
}

async function createType(server: Server): Promise<void> {
  const properties = {
    title: { inputType: 'text' },
    count: { inputType: 'number' },
    extra: { inputType: 'custom' },
  };
  const body = typeDefinition('sheet', 'Sheet', properties);
  const text = JSON.stringify(body)
    .replace('"count":{"type":"string"}', '"count":{"type":"integer"}')
    .replace('"extra":{"type":"string"}', '"extra":{"type":"object"}');
  const response = await server.request('POST', '/api/v1/internal/contenttype', JSON.parse(text));
  expect(response.status, await response.clone().text()).toBe(200);
}

/** Sends JSON as it is: numbers in it are longer than those of JavaScript. */
async function send(server: Server, method: string, path: string, text: string): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/content/${path}`, {
    method,
    headers: { 'X-AUTH-TOKEN': 'a'.repeat(40), 'Content-Type': 'application/json' },
    ...(method !== 'GET' && { body: text }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

test('saves long numbers and unusual JSON as they were, also from a version and after a reload', async ({
  page,
  server,
}) => {
  await createType(server);
  await send(server, 'POST', 'sheet', `{"id":"one","title":"a","count":9007199254740993,"extra":${CUSTOM}}`);
  await send(server, 'PUT', 'sheet/one', '{"title":"a","count":1}');
  await signIn(page);
  await openForm(page, 'c/sheet/one?panel=versions');
  await page.getByRole('button', { name: 'Restore' }).first().click();
  await openForm(page, 'c/sheet/one');
  await page.getByLabel('Title').fill('b');
  await page.getByLabel('Title').blur();
  await expect(page.getByText(/stored \d/)).toBeAttached();
  await page.reload();
  await expect(page.getByText(/not saved yet/)).toBeVisible();
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 3.')).toBeVisible();
  const saved = await send(server, 'GET', 'sheet/one', '');
  expect(saved).toContain('"count":9007199254740993');
  expect(saved).toContain(CUSTOM);
  await page.getByLabel('Title').fill('c');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 4.')).toBeVisible();
  expect(await send(server, 'GET', 'sheet/one', '')).toContain(CUSTOM);
});

test('shows what a colleague saved meanwhile before readers get it', async ({ page, server }) => {
  await withoutLiveUpdates(page);
  const path = '/api/v1/content/post/ten-oclock-boat';
  const list = await storedObject(server, 'post?limit=1&fields[]=internal.status');
  const [post] = list.data as { id: string }[];
  const id = post?.id ?? path;
  const published = await server.request('POST', `/api/v1/content/post/${id}/publish`);
  expect(published.status).toBeLessThan(500);
  await signIn(page);
  await openForm(page, `c/post/${id}`);
  await page.getByLabel('Title', { exact: false }).first().fill('A title of mine');
  const { internal: _internal, ...values } = await storedObject(server, `post/${id}`);
  await put(server, `/api/v1/content/post/${id}`, { ...values, excerpt: 'HALF-DONE DRAFT' });
  await page.getByRole('button', { name: 'Publish…' }).last().click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('A title of mine');
  await dialog.getByRole('button', { name: 'Save and publish' }).click();
  await expect(dialog.getByRole('alert')).toContainText('changed Excerpt meanwhile');
  await expect(dialog.getByRole('heading', { name: 'Excerpt' })).toBeVisible();
  await expectAccessible(page);
  expect(
    await (
      await fetch(`${server.url}/api/v1/content/post/${id}`, {
        headers: { 'X-AUTH-TOKEN': 'a'.repeat(40), 'x-visibility': 'public' },
      })
    ).text(),
  ).not.toContain('HALF-DONE');
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(dialog).toBeHidden();
  expect(await storedObject(server, `post/${id}`)).toMatchObject({
    title: 'A title of mine',
    internal: { status: 'public' },
  });
});
