// Several people, and several tabs, on the same object.
import type { Browser, Page } from '@playwright/test';
import { createSession, createUser, expect, expectAccessible, test } from '../support';
import type { Server } from '../server';
import { openForm, saveButton, withoutLiveUpdates } from '../writing';

const KETTLE = 'c/product/slow-kettle';
const PATH = '/api/v1/content/product/slow-kettle';

/** Ben, an editor, in a browser of his own. */
async function ben(browser: Browser, server: Server): Promise<Page> {
  const user = await createUser(server, 'editor', { name: 'Ben Holt' });
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await createSession(page, user);
  await openForm(page, KETTLE);
  return page;
}

test('merges changes of other properties, and says whose they are', async ({ page, browser, server }) => {
  await createSession(page);
  const other = await ben(browser, server);
  await openForm(page, KETTLE);
  await expect(page.getByText('Ben Holt is here too')).toBeVisible();
  await other.getByLabel('Price').focus();
  await expect(page.getByText('Ben Holt is here too, in Price')).toBeVisible();
  await page.getByLabel('Name').fill('Kettle of both');
  await other.getByLabel('Price').fill('63');
  await saveButton(other).click();
  await expect(other.getByText('Saved as version 2.')).toBeVisible();
  await expect(page.getByText('Ben Holt saved version 2: Price.')).toBeVisible();
  await expectAccessible(page);
  await saveButton(page).click();
  await expect(page.getByText(/Ben Holt changed Price; both changes are saved/)).toBeVisible();
  await expect(page.getByLabel('Price')).toHaveValue('63');
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Kettle of both', price: 63 });
  // Ben has changed nothing since, so his form shows the new version.
  await expect(other.getByLabel('Name')).toHaveValue('Kettle of both');
  await other.context().close();
});

test('asks about a property that both changed', async ({ page, browser, server }) => {
  await createSession(page);
  const other = await ben(browser, server);
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Kettle by Ada');
  await other.getByLabel('Name').fill('Kettle by Ben');
  await other.getByLabel('Price').fill('70');
  await saveButton(other).click();
  await expect(other.getByText('Saved as version 2.')).toBeVisible();
  await saveButton(page).click();
  const dialog = page.getByRole('dialog', { name: 'Both changed the same property' });
  await expect(dialog).toContainText('Ben Holt saved version 2');
  await expect(dialog).toContainText('Slow kettle');
  await expectAccessible(page);
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Kettle by Ben' });
  await dialog.getByRole('radio', { name: 'Edit' }).check();
  await dialog.getByRole('textbox', { name: /Name/ }).fill('Kettle by both');
  await dialog.getByRole('button', { name: 'Save with these choices' }).click();
  await expect(page.getByText(/Saved as version 3/)).toBeVisible();
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Kettle by both', price: 70 });
  await other.context().close();
});

test('keeps my text when somebody deletes the object', async ({ page, browser, server }) => {
  const user = await createUser(server, 'editor', { name: 'Ben Holt' });
  const path = '/api/v1/content/product/lonely';
  const lonely = { id: 'lonely', name: 'Lonely', kind: 'tool', price: 1 };
  await server.send('POST', '/api/v1/content/product', lonely);
  await openForm(page, 'c/product/lonely');
  await page.getByLabel('Name').fill('Not gone');
  const context = await browser.newContext();
  const other = await context.newPage();
  await createSession(other, user);
  const headers = { 'X-CMS-Request': '1', 'X-MODE': 'preview' };
  expect((await other.request.delete(path, { headers })).status()).toBe(204);
  await expect(page.getByText(/Ben Holt deleted this object/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Restore it' }).click();
  await expect(page.getByText(/deleted this object/)).toBeHidden();
  await expect(page.getByLabel('Name')).toHaveValue('Not gone');
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  expect(await server.stored('product/lonely')).toMatchObject({ name: 'Not gone' });
  await context.close();
});

/** Opens an object that was changed after the user had left it with an unsaved name. */
async function openWithStaleWork(page: Page, server: Server): Promise<void> {
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('From yesterday');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await page.goto('/admin');
  await server.send('PATCH', PATH, { price: 99 });
  await openForm(page, KETTLE);
}

test('compares unsaved work with an object that was changed meanwhile', async ({ page, context, server }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWithStaleWork(page, server);
  await expect(page.getByText(/The object was changed since then/)).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Slow kettle');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Compare and merge' }).click();
  await page.getByRole('button', { name: 'Copy all of mine' }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toBe('Name\nFrom yesterday');
  await page.getByRole('button', { name: 'Put these choices into the form' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('From yesterday');
  await expect(page.getByLabel('Price')).toHaveValue('99');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 3.')).toBeVisible();
});

test('merges unsaved work with what arrives while the dialog is open', async ({ page, server }) => {
  await openWithStaleWork(page, server);
  await page.getByRole('button', { name: 'Compare and merge' }).click();
  await server.request('PATCH', PATH, { price: 77 });
  await expect(page.getByLabel('Price')).toHaveValue('77');
  await page.getByRole('button', { name: 'Put these choices into the form' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('From yesterday');
  await expect(page.getByLabel('Price')).toHaveValue('77');
});

test('discards what is in the form, not the unsaved work of an earlier state', async ({ page, server }) => {
  await openWithStaleWork(page, server);
  const notice = page.getByText(/The object was changed since then/);
  await expect(notice).toBeVisible();
  await page.getByLabel('Name').fill('From today');
  await page.getByRole('button', { name: 'Discard…' }).last().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Discard changes' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('Slow kettle');
  await expect(notice).toBeVisible();
  await page.getByLabel('Name').fill('From today');
  await page.getByRole('button', { name: 'Discard…' }).first().click();
  await dialog.getByRole('button', { name: 'Discard changes' }).click();
  await expect(notice).toBeHidden();
  await expect(page.getByLabel('Name')).toHaveValue('From today');
});

test('shares one event stream among three tabs', async ({ page, context, server }) => {
  const streams: string[] = [];
  context.on('request', (request) => {
    if (request.url().includes('/api/v1/changes')) streams.push(request.url());
  });
  await openForm(page, KETTLE);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const tabs = [page, await context.newPage(), await context.newPage()];
  for (const tab of tabs.slice(1)) {
    await tab.goto(page.url());
    await expect(tab.getByText('live', { exact: true })).toBeVisible();
  }
  const before = streams.length;
  await server.request('PATCH', PATH, { name: 'Seen everywhere' });
  for (const tab of tabs) await expect(tab.getByLabel('Name')).toHaveValue('Seen everywhere');
  expect(streams.length).toBe(before);
  // When the leading tab closes, another one takes over.
  await page.close();
  await server.request('PATCH', PATH, { name: 'Seen by the rest' });
  for (const tab of tabs.slice(1)) await expect(tab.getByLabel('Name')).toHaveValue('Seen by the rest');
});

test('keeps what was typed in the dialog of a conflict that is closed', async ({ page, server }) => {
  await withoutLiveUpdates(page);
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Kettle by Ada');
  await server.request('PATCH', PATH, { name: 'Kettle by Ben' });
  const dialog = page.getByRole('dialog', { name: 'Both changed the same property' });
  const name = dialog.getByRole('textbox', { name: /Name/ });
  await saveButton(page).click();
  await dialog.getByRole('radio', { name: 'Edit' }).check();
  await name.fill('Kettle by both');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(page.getByLabel('Name')).toHaveValue('Kettle by both');
  // What was typed is not taken over in place of a choice.
  await saveButton(page).click();
  await dialog.getByRole('radio', { name: 'Edit' }).check();
  await expect(name).toHaveValue('Kettle by both');
  await name.fill('Not chosen');
  await dialog.getByRole('radio', { name: /mine/i }).check();
  await dialog.getByRole('button', { name: 'Back', exact: false }).click();
  await expect(page.getByLabel('Name')).toHaveValue('Kettle by both');
});

test('offers to save the text of a deleted object as a new one only with that right', async ({
  page,
  server,
}) => {
  const rule = { ctd: 'product', create: false, read: true, update: true, delete: false };
  const user = await createUser(server, 'custom', { rules: [rule] });
  const lonely = { id: 'lonely', name: 'Lonely', kind: 'tool', price: 1 };
  await server.send('POST', '/api/v1/content/product', lonely);
  await createSession(page, user);
  await openForm(page, 'c/product/lonely');
  await page.getByLabel('Name').fill('Not gone');
  await server.send('DELETE', '/api/v1/content/product/lonely');
  await expect(page.getByText('This object was deleted. Your text is still here.')).toBeVisible();
  await expect(page.getByText(/You do not have the right to create Product objects\./)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save my text as a new object' })).toHaveCount(0);
  await expectAccessible(page);
});
