// Undo of actions on several objects.
import type { Page } from '@playwright/test';
import { createSheetType, send } from '../exact';
import { createNews, newsDefinition } from '../news';
import type { Server } from '../server';
import { expect, open, test } from '../support';

const dialog = (page: Page) => page.getByRole('dialog');

test('gives long numbers their former values', async ({ page, server }) => {
  await createSheetType(server);
  await send(server, 'POST', 'sheet', '{"id":"one","title":"One","count":9007199254740993}');
  await open(page, 'c/sheet');
  await page.getByLabel('Select One').check();
  await page.getByRole('button', { name: 'Edit a property…' }).click();
  await dialog(page).getByLabel('Property', { exact: true }).selectOption({ label: 'Count' });
  await dialog(page).getByLabel('Count').fill('5');
  await dialog(page).getByRole('button', { name: 'Change 1 object' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await send(server, 'GET', 'sheet/one', '')).toContain('"count":9007199254740993');
});

test('publishes edited objects again, except after changes of others', async ({ page, server }) => {
  await createNews(server, 3);
  const path = (number: number) => `/api/v1/content/news/news-${String(number)}`;
  for (const number of [0, 1]) await server.send('POST', `${path(number)}/publish`);
  const statuses = () =>
    Promise.all([0, 1, 2].map(async (number) => (await server.send('GET', path(number))).internal.status));
  const edit = async () => {
    await open(page, 'c/news?order=title');
    await page.getByLabel('Select all rows on this page').check();
    await page.getByRole('button', { name: 'Edit a property…' }).click();
    await dialog(page).getByLabel('Property', { exact: true }).selectOption({ label: 'Kind' });
    await dialog(page).getByLabel('Kind').selectOption('world');
    await dialog(page).getByRole('button', { name: 'Change 3 objects' }).click();
    await expect(page.getByText('3 objects changed.')).toBeVisible();
  };
  await edit();
  expect(await statuses()).toEqual(['modified', 'modified', 'draft']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await statuses()).toEqual(['public', 'public', 'draft']);

  // Somebody else changes an object while the undo runs.
  await edit();
  await page.route('**/api/v1/content/news/batch', async (route) => {
    const response = await route.fetch();
    await server.request('PATCH', path(1), { title: 'News of others' });
    await route.fulfill({ response });
  });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone. 1 object stays “Edited”')).toBeVisible();
  expect(await statuses()).toEqual(['public', 'modified', 'draft']);
});

/** Links each of the news to the next one, and the last to the first. */
async function linkInCycle(server: Server, ids: string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const target = ids[(index + 1) % ids.length] ?? '';
    const about = [{ type: 'internal', dataUrl: `/api/v1/content/news/${target}` }];
    await server.send('PATCH', `/api/v1/content/news/${id}`, { about });
  }
}

test('restores objects that link to each other, with their status and what readers see', async ({
  page,
  server,
}) => {
  await createNews(server, 5);
  await linkInCycle(server, ['news-0', 'news-1']);
  await linkInCycle(server, ['news-2', 'news-3', 'news-4']);
  // The objects of the first cycle are published, and one of them is edited afterwards; those of the second are drafts.
  for (const id of ['news-0', 'news-1']) await server.send('POST', `/api/v1/content/news/${id}/publish`);
  await server.request('PATCH', '/api/v1/content/news/news-1', { kind: 'world' });
  const read = async () =>
    Promise.all(
      [0, 1, 2, 3, 4].map(async (number) => {
        const path = `/api/v1/content/news/news-${String(number)}`;
        const object = await server.send('GET', path);
        const seen = await server.request('GET', path, undefined, { 'x-visibility': 'public' });
        const { internal: _internal, ...shown } = await seen.json();
        return { status: object.internal.status, kind: object.kind, about: object.about, shown };
      }),
    );
  const before = await read();
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 5 objects' }).click();
  await expect(page.getByText('5 objects deleted.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await read()).toEqual(before);
});

/** Makes the link between news required. */
async function requireLinks(server: Server): Promise<void> {
  const definition = newsDefinition();
  Object.assign(definition.schemaDefinition as object, { required: ['about'] });
  await server.send('PUT', '/api/v1/internal/contenttype/news', definition);
}

async function deleteAll(page: Page, count: number): Promise<void> {
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: `Delete ${String(count)} objects` }).click();
  await expect(page.getByText(`${String(count)} objects deleted.`)).toBeVisible();
}

test('restores objects that require links to each other', async ({ page, server }) => {
  await createNews(server, 3);
  const ids = ['news-0', 'news-1', 'news-2'];
  await linkInCycle(server, ids);
  await requireLinks(server);
  const read = () =>
    Promise.all(ids.map(async (id) => (await server.send('GET', `/api/v1/content/news/${id}`)).about));
  const before = await read();
  await deleteAll(page, 3);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await read()).toEqual(before);
});

test('says which objects stay in the trash, and which are no longer there', async ({ page, server }) => {
  await createNews(server, 3);
  await deleteAll(page, 3);
  await requireLinks(server);
  const trash = await server.send('GET', '/api/v1/trash');
  const { entry } = trash.data.find(({ id }: { id: string }) => id === 'news-1');
  await server.request('DELETE', `/api/v1/trash/${String(entry)}`);
  await page.getByRole('button', { name: 'Undo' }).click();
  const message = page.getByRole('status').filter({ hasText: 'Undone for 0 objects.' });
  await expect(message).toContainText('1 object is no longer in the trash.');
  await expect(message).toContainText('2 objects stay in the trash: “News 000” (about: ');
});

test('restores after lost responses, and again when the server is reached', async ({ page, server }) => {
  await createNews(server, 2);
  await deleteAll(page, 2);
  let isOffline = true;
  await page.route(/\/api\/v1\/trash\/.*\/restore$/, async (route) => {
    if (isOffline) return route.abort();
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('2 objects stay in the trash:')).toContainText('The server cannot be reached.');
  isOffline = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  await expect(page.getByRole('rowheader')).toHaveCount(2);
});

test('takes back edits and publications again after lost responses', async ({ page, server }) => {
  await createNews(server, 3);
  const path = (number: number) => `/api/v1/content/news/news-${String(number)}`;
  for (const number of [0, 1]) await server.send('POST', `${path(number)}/publish`);
  await server.request('PATCH', path(1), { title: 'News 001, edited' });
  const read = () =>
    Promise.all(
      [0, 1, 2].map(async (number) => {
        const { internal, title, kind } = await server.send('GET', path(number));
        const seen = await server.request('GET', path(number), undefined, { 'x-visibility': 'public' });
        return [internal.status, title, kind, seen.status === 200 && (await seen.json()).title];
      }),
    );
  const before = await read();
  /** Undoes the last action. For each URL pattern in `lost`, one response is lost. */
  const undo = async (...lost: RegExp[]) => {
    const button = page.getByRole('button', { name: 'Undo' });
    await expect(button).toBeVisible();
    for (const address of lost) {
      let isLost = false;
      await page.route(address, async (route) => {
        if (isLost || route.request().method() === 'GET') return route.fallback();
        isLost = true;
        await route.fetch();
        await route.abort();
      });
    }
    await button.click();
    for (const _ of lost) await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText('Undone.', { exact: true })).toBeVisible();
    expect(await read()).toEqual(before);
  };
  const select = async () => {
    await open(page, 'c/news?order=title');
    await page.getByLabel('Select all rows on this page').check();
  };

  await select();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Publish 3 objects' }).click();
  await undo(/news\/batch-unpublish$/, /news\/news-1$/, /news\/batch-publish$/);

  for (const lost of [/news\/batch$/, /news\/batch-publish$/]) {
    await select();
    await page.getByRole('button', { name: 'Edit a property…' }).click();
    await dialog(page).getByLabel('Property', { exact: true }).selectOption({ label: 'Kind' });
    await dialog(page).getByLabel('Kind').selectOption('world');
    await dialog(page).getByRole('button', { name: 'Change 3 objects' }).click();
    await undo(lost);
  }
});
