import { createNews } from '../news';
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';

test('offers the actions of the open object in the command palette', async ({ page, server }) => {
  const post = { id: 'palette-post', title: 'From the palette' };
  await server.request('POST', '/api/v1/content/post', post);
  await open(page, 'c/event');
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

test('discards typed text and moves the focus to the heading', async ({ page }) => {
  await open(page, 'c/author');
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByLabel('Name').first().fill('Someone else');
  await page.getByRole('button', { name: 'Discard…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByText('No changes', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

test('shows who deleted the object of an address, and restores it', async ({ page, server }) => {
  const type = { id: 'gone', name: 'Gone Person', role: 'writer' };
  await server.send('POST', '/api/v1/content/author', type);
  await server.send('DELETE', '/api/v1/content/author/gone');
  await open(page, 'c/author/gone');
  await expect(page.getByRole('heading', { name: 'This object was deleted' })).toBeVisible();
  await expect(page).toHaveTitle(/This object was deleted/);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByRole('heading', { name: 'Gone Person' })).toBeVisible();
  await page.goto('/admin/c/author/never-there');
  await expect(page.getByRole('heading', { name: 'This object does not exist' })).toBeVisible();
});

test('says which right is missing to somebody who may only read', async ({ page, server }) => {
  const viewer = await createUser(server, 'viewer');
  await createSession(page, viewer);
  await page.goto('/admin/c/author');
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await expect(page.getByText('You can only read this. Missing right: change Author objects.')).toBeVisible();
  await expect(page.getByText('Read-only', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.goto('/admin/trash');
  await expect(page.getByText('Missing right: delete')).toBeVisible();
});

test('makes one copy of an object, even if the user tries again after a lost response', async ({
  page,
  server,
}) => {
  await createNews(server, 1);
  await open(page, 'c/news/news-0');
  let isLost = true;
  await page.route('**/news-0/duplicate', async (route) => {
    const response = await route.fetch();
    await (isLost ? route.abort() : route.fulfill({ response }));
    isLost = false;
  });
  const duplicate = async () => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  };
  await duplicate();
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await duplicate();
  await expect(page.getByText('This is the copy.')).toBeVisible();
  const { total_count } = await server.send('GET', '/api/v1/content/news');
  expect(total_count).toBe(2);
});

test('notices that an object was published although the response was lost', async ({ page, server }) => {
  await createNews(server, 1);
  await open(page, 'c/news/news-0');
  await page.route('**/news-0/publish', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Publish…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText('Published.')).toBeVisible();
  await expect(page.getByText('The server cannot be reached.')).toBeHidden();
});

test('starts another new object from the form of a new one', async ({ page }) => {
  await open(page, 'c/author/+new');
  const name = page.getByLabel('Name').first();
  await name.fill('First person');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  const first = page.url();
  await page.getByRole('button', { name: 'Search or jump to…' }).click();
  await page.keyboard.type('New: Author');
  await page
    .getByRole('dialog')
    .getByRole('option', { name: /^New: Author/ })
    .click();
  await expect(name).toHaveValue('');
  await expect(page).not.toHaveURL(first);
  await page.goBack();
  await expect(name).toHaveValue('First person');
  await expect(page).toHaveURL(first);
});
