import { createUser, expect, expectAccessible, signIn, test } from '../support';
import type { Server } from '../server';
import { typeDefinition } from '../types';

/** A type with Draft & Public, and objects of it. */
async function createNews(server: Server, count: number): Promise<void> {
  const definition = typeDefinition(
    'news',
    'News',
    {
      title: { inputType: 'text' },
      kind: { inputType: 'select', options: ['local', 'world'] },
      about: { inputType: 'datasource', relationContenttype: 'news' },
    },
    { draftPublic: true },
  );
  const defined = await server.request('POST', '/api/v1/internal/contenttype', definition);
  expect(defined.status, await defined.clone().text()).toBe(200);
  const objects = Array.from({ length: count }, (_, index) => ({
    id: `news-${String(index)}`,
    title: `News ${String(index).padStart(3, '0')}`,
    kind: 'local',
  }));
  const created = await server.request('POST', '/api/v1/content/news/batch', objects);
  expect(created.status, await created.clone().text()).toBe(200);
}

test('publishes selected rows, and all that match after the number was typed', async ({ page, server }) => {
  await createNews(server, 150);
  await signIn(page);
  await page.goto(`${new URL(page.url()).origin}/admin/c/news?order=title`);
  await page.getByLabel('Select News 000').check();
  await page.getByLabel('Select News 004').click({ modifiers: ['Shift'] });
  await expect(page.getByText('5 selected')).toBeVisible();
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
  await page.getByLabel('Type the number 150 to confirm').fill('150');
  await run.click();
  await expect(page.getByText('150 objects published.')).toBeVisible();
});

test('edits a property with a preview, and undoes it', async ({ page, server }) => {
  await createNews(server, 6);
  await signIn(page);
  await page.goto(`${new URL(page.url()).origin}/admin/c/news?order=title`);
  await page.getByLabel('Select all rows on this page').check();
  await page.getByRole('button', { name: 'Edit a property…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Property', { exact: true }).selectOption({ label: 'Kind' });
  await dialog.getByLabel('Kind').selectOption('world');
  await expect(dialog.getByRole('row', { name: /News 003/ })).toContainText('world');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Change 6 objects' }).click();
  await expect(page.getByText('6 objects changed.')).toBeVisible();
  await expect(page.getByRole('row', { name: /News 003/ })).toContainText('world');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('row', { name: /News 003/ })).toContainText('local');
});

test('reports what was refused, and selects those rows', async ({ page, server }) => {
  await createNews(server, 4);
  const link = { type: 'internal', dataUrl: '/api/v1/content/news/news-0' };
  await server.request('PATCH', '/api/v1/content/news/news-1', { about: [link] });
  await signIn(page);
  await page.goto(`${new URL(page.url()).origin}/admin/c/news?order=title`);
  await page.getByLabel('Select News 000').check();
  await page.getByLabel('Select News 002').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 2 objects' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('1 changed, 1 refused.')).toBeVisible();
  await expect(dialog.getByText(/is used in another content object/)).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByLabel('Select News 000')).toBeChecked();
  await expect(page.getByRole('rowheader')).toHaveCount(3);
});

test('an author is told why they cannot publish', async ({ page, server }) => {
  await createNews(server, 2);
  const author = await createUser(server, 'author');
  await signIn(page, author);
  await page.goto(`${new URL(page.url()).origin}/admin/c/news`);
  await page.getByLabel('Select News 000').check();
  await expect(page.getByRole('button', { name: 'Publish', exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'More' }).click();
  await expect(page.getByRole('menuitem', { name: /^Publish/ })).toContainText('Missing right: publish');
});
