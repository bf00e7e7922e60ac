import { createUser, expect, expectAccessible, signIn, test } from '../support';

test('offers the actions of the open object in the command palette', async ({ page, server, pageOrigin }) => {
  const post = { id: 'palette-post', title: 'From the palette' };
  await server.request('POST', '/api/v1/content/post', post);
  await signIn(page);
  await page.goto(`${pageOrigin}/admin/c/event`);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await expect(page.getByRole('complementary', { name: 'About this object' })).toBeVisible();
  await page.getByRole('button', { name: 'Search or jump to…' }).click();
  const palette = page.getByRole('dialog');
  const option = (name: string) => palette.getByRole('option', { name, exact: true });
  await expect(option('Versions')).toBeVisible();
  await expect(option('Duplicate')).toBeVisible();
  await expect(palette.getByRole('option', { name: 'Discard…' })).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.type('versi');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/panel=versions/);
  await page.getByRole('button', { name: 'Search or jump to…' }).click();
  await page.keyboard.type('delet');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('Delete');
});

test('discards typed text and moves the focus to the heading', async ({ page, pageOrigin }) => {
  await signIn(page);
  await page.goto(`${pageOrigin}/admin/c/author`);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByLabel('Name').first().fill('Someone else');
  await page.getByRole('button', { name: 'Discard…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByText('No changes', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

test('shows who deleted the object of an address, and restores it', async ({ page, server, pageOrigin }) => {
  const type = { id: 'gone', name: 'Gone Person', role: 'writer' };
  const created = await server.request('POST', '/api/v1/content/author', type);
  expect(created.status, await created.clone().text()).toBe(200);
  expect((await server.request('DELETE', '/api/v1/content/author/gone')).status).toBe(204);
  await signIn(page);
  await page.goto(`${pageOrigin}/admin/c/author/gone`);
  await expect(page.getByRole('heading', { name: 'This object was deleted' })).toBeVisible();
  await expect(page).toHaveTitle(/This object was deleted/);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByRole('heading', { name: 'Gone Person' })).toBeVisible();
  await page.goto(`${pageOrigin}/admin/c/author/never-there`);
  await expect(page.getByRole('heading', { name: 'This object does not exist' })).toBeVisible();
});

test('says which right is missing to somebody who may only read', async ({ page, server, pageOrigin }) => {
  const viewer = await createUser(server, 'viewer');
  await signIn(page, viewer);
  await page.goto(`${pageOrigin}/admin/c/author`);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await expect(page.getByText('You can only read this. Missing right: change Author objects.')).toBeVisible();
  await expect(page.getByText('Read-only', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.goto(`${pageOrigin}/admin/trash`);
  await expect(page.getByText('Missing right: delete')).toBeVisible();
});
