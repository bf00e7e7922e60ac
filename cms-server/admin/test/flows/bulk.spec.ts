import type { Page } from '@playwright/test';
import { createNews } from '../news';
import type { Server } from '../server';
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';

const dialog = (page: Page) => page.getByRole('dialog');

async function internal(server: Server, id: string): Promise<Record<string, unknown>> {
  const response = await server.request('GET', `/api/v1/content/news/${id}`);
  return ((await response.json()) as { internal: Record<string, unknown> }).internal;
}

async function chooseKind(page: Page, kind: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit a property…' }).click();
  await dialog(page).getByLabel('Property', { exact: true }).selectOption({ label: 'Kind' });
  await dialog(page).getByLabel('Kind').selectOption(kind);
}

test('publishes selected rows, and all that match after the number was typed', async ({ page, server }) => {
  await createNews(server, 150);
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select News 000').check();
  await page.getByLabel('Select News 004').click({ modifiers: ['Shift'] });
  await expect(
    page.getByRole('region', { name: 'Actions on selected rows' }).getByText('5 selected'),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByRole('dialog').getByText('5 objects.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Publish 5 objects' }).click();
  await expect(page.getByText('5 objects published.')).toBeVisible();
  await expect(page.getByRole('row', { name: /News 000/ }).getByText('Public')).toBeVisible();

  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Select all 150 that match' }).click();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const run = page.getByRole('button', { name: 'Publish 150 objects' });
  await expect(run).toBeDisabled();
  await page.getByLabel('Enter the number 150 to confirm').fill('150');
  await run.click();
  await expect(page.getByText('150 objects published.')).toBeVisible();
});

test('edits a property with a preview, and undoes it', async ({ page, server }) => {
  await createNews(server, 6);
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select all rows on this page').check();
  await chooseKind(page, 'world');
  await expect(dialog(page).getByRole('row', { name: /News 003/ })).toContainText('world');
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Change 6 objects' }).click();
  await expect(page.getByText('6 objects changed.')).toBeVisible();
  await expect(page.getByRole('row', { name: /News 003/ })).toContainText('world');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('row', { name: /News 003/ })).toContainText('local');
});

test('does not change objects that already have the value', async ({ page, server }) => {
  await createNews(server, 120);
  for (const id of ['news-1', 'news-2'])
    await server.request('PATCH', `/api/v1/content/news/${id}`, { kind: 'world' });
  await open(page, 'c/news?order=title');
  for (const number of ['000', '001', '002', '003']) await page.getByLabel(`Select News ${number}`).check();
  await chooseKind(page, 'world');
  await expect(
    dialog(page).getByText('2 objects have this value already and stay as they are.'),
  ).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Change 2 objects' }).click();
  await expect(page.getByText('2 objects changed.')).toBeVisible();
  expect((await internal(server, 'news-1')).latestVersion).toBe(2);
  expect((await internal(server, 'news-3')).latestVersion).toBe(2);

  // All that match, even when the list is filtered by the same property.
  const filters = JSON.stringify({ kind: { type: 'equals', filter: ['local', 'world'] } });
  await page.goto(`/admin/c/news?filters=${encodeURIComponent(filters)}`);
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Select all 120 that match' }).click();
  await chooseKind(page, 'world');
  await expect(dialog(page).getByText('4 objects have this value already')).toBeVisible();
  await expect(dialog(page).getByText('This cannot be undone in one step')).toBeVisible();
  await dialog(page).getByLabel('Enter the number 116 to confirm').fill('116');
  await dialog(page).getByRole('button', { name: 'Change 116 objects' }).click();
  await expect(page.getByText('116 objects changed.')).toBeVisible();
  expect((await internal(server, 'news-1')).latestVersion).toBe(2);
  expect((await internal(server, 'news-7')).latestVersion).toBe(2);
});

test('undoes publishing, except of objects that were changed meanwhile', async ({ page, server }) => {
  await createNews(server, 4);
  // Readers have an earlier version of the third object.
  await server.request('POST', '/api/v1/content/news/news-2/publish');
  await server.request('PATCH', '/api/v1/content/news/news-2', { kind: 'world' });
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(dialog(page).getByText('You can undo this afterwards.')).toBeVisible();
  await page.getByRole('button', { name: 'Publish 4 objects' }).click();
  await expect(page.getByText('4 objects published.')).toBeVisible();
  await server.request('PATCH', '/api/v1/content/news/news-3', { kind: 'world' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone for 3 objects. 1 object was changed meanwhile')).toBeVisible();
  const statuses = await Promise.all([0, 1, 2, 3].map((n) => internal(server, `news-${String(n)}`)));
  expect(statuses.map(({ status }) => status)).toEqual(['draft', 'draft', 'modified', 'modified']);
  const read = async (visibility: Record<string, string>): Promise<{ kind: string }> =>
    (await server.request('GET', '/api/v1/content/news/news-2', undefined, visibility)).json();
  expect((await read({ 'x-visibility': 'public' })).kind).toBe('local');
  expect((await read({})).kind).toBe('world');
});

test('completes an action when a response is lost', async ({ page, server }) => {
  await createNews(server, 120);
  await open(page, 'c/news?order=title');
  const lost: string[] = [];
  await page.route(/\/api\/v1\/(job\/|content\/news\/batch$)/, async (route) => {
    const kind = route.request().method();
    if (lost.includes(kind)) return route.continue();
    lost.push(kind);
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel('Select News 003').check();
  await chooseKind(page, 'world');
  await dialog(page).getByRole('button', { name: 'Change 1 object' }).click();
  await expect(page.getByText('1 object changed.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('row', { name: /News 003/ })).toContainText('local');

  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Select all 120 that match' }).click();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByLabel('Enter the number 120 to confirm').fill('120');
  await page.getByRole('button', { name: 'Publish 120 objects' }).click();
  await expect(page.getByText('120 objects published.')).toBeVisible();
  expect(lost).toEqual(['PATCH', 'GET']);
});

test('says that an outcome is unknown while it cannot be read, and reads it again', async ({
  page,
  server,
}) => {
  await createNews(server, 3);
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  let isOffline = false;
  await page.route('**/api/v1/content/news**', async (route) => {
    if (isOffline) return route.abort();
    if (!route.request().url().endsWith('/batch-delete')) return route.continue();
    await route.fetch();
    isOffline = true;
    await route.abort();
  });
  await page.getByRole('button', { name: 'Delete 3 objects' }).click();
  await expect(dialog(page).getByText('It is unknown which further objects were changed')).toBeVisible();
  await expectAccessible(page);
  isOffline = false;
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('3 objects deleted.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
});

test('reports what was refused, and selects those rows', async ({ page, server }) => {
  await createNews(server, 4);
  const link = { type: 'internal', dataUrl: '/api/v1/content/news/news-0' };
  await server.request('PATCH', '/api/v1/content/news/news-1', { about: [link] });
  await open(page, 'c/news?order=title');
  await page.getByLabel('Select News 000').check();
  await page.getByLabel('Select News 002').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 2 objects' }).click();
  await expect(dialog(page).getByText('1 changed, 1 refused.')).toBeVisible();
  await expect(dialog(page).getByText(/is used in another content object/)).toBeVisible();
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByLabel('Select News 000')).toBeChecked();
  await expect(page.getByRole('rowheader')).toHaveCount(3);
});

test('an action stops when the user leaves the list, and reports how it ended', async ({ page, server }) => {
  await createNews(server, 150);
  await open(page, 'c/news?order=title&limit=200');
  await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'News' })).toHaveCount(0);
  await page.goBack();
  let fail: () => void = () => undefined;
  const left = new Promise<void>((done) => (fail = done));
  let batches = 0;
  await page.route('**/batch-delete', async (route) => {
    batches += 1;
    await left;
    await route.fulfill({ status: 403, json: { code: 403, message: 'No right to delete' } });
  });
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).getByLabel('Enter the number 150 to confirm').fill('150');
  await dialog(page).getByRole('button', { name: 'Delete 150 objects' }).click();
  await expect(dialog(page).getByText('0 of 150 …')).toBeVisible();
  page.once('dialog', (question) => void question.accept());
  await page.goForward();
  fail();
  await expect(page.getByText(/^Delete objects: 0 changed, 0 refused. .*No right to delete/)).toBeVisible();
  expect(batches).toBe(1);
});

test('an author sees why they cannot publish', async ({ page, server }) => {
  await createNews(server, 2);
  const author = await createUser(server, 'author');
  await createSession(page, author);
  await page.goto('/admin/c/news');
  await page.getByLabel('Select News 000').check();
  await expect(page.getByRole('button', { name: 'Publish', exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'More' }).click();
  await expect(page.getByRole('menuitem', { name: /^Publish/ })).toContainText('Missing right: publish');
});
