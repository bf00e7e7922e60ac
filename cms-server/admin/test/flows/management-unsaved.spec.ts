// Management forms: the page asks before typed text is lost, and a refused save focuses the first error.
import type { Page } from '@playwright/test';
import { createUser, expect, expectAccessible, test } from '../support';
import { openScreen } from '../screens';

/** Accepts or dismisses the next dialog of the browser. */
function handleNextDialog(page: Page, how: 'accept' | 'dismiss'): void {
  page.once('dialog', (dialog) => void dialog[how]());
}

test('asks before an invitation is lost, and shows what is wrong with it', async ({ page }) => {
  await openScreen(page, 'users');
  await page.getByRole('button', { name: /Invite user/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ben');
  handleNextDialog(page, 'dismiss');
  await page.keyboard.press('Escape');
  await expect(dialog.getByLabel('Name')).toHaveValue('Ben');
  await dialog.getByLabel('E-mail').fill('ada@example.com');
  await dialog.getByRole('button', { name: 'Create invitation' }).click();
  await expect(dialog.getByLabel('E-mail')).toBeFocused();
  await expectAccessible(page);
  await dialog.getByLabel('E-mail').fill('ben@example.com');
  await expect(dialog.getByLabel('E-mail')).toHaveAttribute('aria-invalid', 'false');
  await dialog.getByLabel(/Custom/).check();
  await dialog.getByRole('button', { name: 'Create invitation' }).click();
  await expect(
    dialog
      .getByRole('group', { name: /^Rules/ })
      .getByRole('checkbox')
      .first(),
  ).toBeFocused();
  handleNextDialog(page, 'accept');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});

test('asks before an edited user is left', async ({ page, server }) => {
  await createUser(server, 'editor');
  await openScreen(page, 'users');
  await page.getByRole('table').getByRole('link').last().click();
  await page.getByLabel('Name').fill('Another name');
  handleNextDialog(page, 'dismiss');
  await page.getByRole('link', { name: 'API keys' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('Another name');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Another name' })).toBeFocused();
});

test('keeps what is typed while a user is saved', async ({ page, server }) => {
  const { id } = await createUser(server, 'editor');
  await openScreen(page, `users/${id}`);
  const name = page.getByRole('textbox', { name: 'Name' });
  await page.route(`**/api/v1/internal/user/${id}`, async (route) => {
    if (route.request().method() === 'PUT') await name.fill('Ben Holt the second');
    await route.continue();
  });
  await name.fill('Ben Holt');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Ben Holt' })).toBeVisible();
  await expect(name).toHaveValue('Ben Holt the second');
  await expect(page.getByText('Unsaved changes')).toBeVisible();
});

test('marks missing parameters in the console, and shows the response', async ({ page }) => {
  await openScreen(page, 'api?op=content_list');
  const send = page.getByRole('button', { name: 'Send GET' });
  await send.click();
  await expect(page.getByLabel('contentType')).toBeFocused();
  await expect(page.getByLabel('contentType')).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page);
  await page.getByLabel('contentType').fill('post');
  await send.click();
  await expect(page.getByRole('heading', { name: 'Response' })).toBeFocused();
});

test.describe('with webhooks', () => {
  test.use({ options: { environment: { CMS_WEBHOOK_ALLOW_PRIVATE: 'true' } } });
  test('creates a webhook for all types', async ({ page, server }) => {
    await openScreen(page, 'c/_webhooks/+new');
    await page.getByLabel('Name', { exact: false }).first().fill('All');
    await page.getByLabel('Url').fill('https://127.0.0.1:9/');
    await page.getByRole('button', { name: /^(Save|Create)/ }).click();
    await expect(page.getByText('Saved as version 1.')).toBeVisible();
    const found = await server.request('GET', '/api/v1/content/_webhooks?limit=10');
    expect(await found.json()).toMatchObject({ data: [{ content_type_definitions: [], actions: [] }] });
    await openScreen(page, 'types');
    const objects = page.getByRole('row').filter({ hasText: '_webhooks' }).getByRole('link').last();
    await expect(objects).toHaveAttribute('href', '/admin/webhooks');
  });
});

test('shows changes of a user by others, and keeps those that are not saved yet', async ({
  page,
  server,
}) => {
  const rule = { ctd: 'author', create: false, read: true, update: false, delete: false };
  const { email, id } = await createUser(server, 'custom', { rules: [rule] });
  const path = `/api/v1/internal/user/${id}`;
  await openScreen(page, `users/${id}`);
  const update = page.getByRole('checkbox', { name: 'author: Update' });
  await expect(update).not.toBeChecked();
  await page.getByRole('textbox', { name: 'Name' }).fill('Own name');
  const changed = { email, name: 'Name of others', role: 'custom', rules: [{ ...rule, update: true }] };
  await server.send('PUT', path, changed);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(update).toBeChecked();
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('Own name');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Unsaved changes')).toBeHidden();
  const stored = await server.send('GET', path);
  expect(stored).toMatchObject({ name: 'Own name', rules: [{ ctd: 'author', update: true }] });
});
