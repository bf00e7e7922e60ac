// The screens of operators by keyboard and on phones: rights, keys, sessions, activity, the system.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';
import { addManaged, expectNoSidewaysScroll, openScreen } from '../screens';
import { createType, typeDefinition } from '../types';

const PHONE = { width: 320, height: 700 };

test('gives rights by keyboard: one stop of the Tab key, arrows, a filter for many types', async ({
  page,
  server,
}) => {
  for (const name of ['harbour', 'harbourpilot'])
    await createType(server, typeDefinition(name, name, { title: { inputType: 'text' } }));
  await open(page, 'keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Name/).fill('site');
  await dialog.getByRole('button', { name: 'Clear' }).click();
  const box = (name: string) => dialog.getByRole('checkbox', { name, exact: true });

  await page.keyboard.press('Tab');
  await expect(dialog.getByRole('searchbox', { name: 'Find a type' })).toBeFocused();
  await page.keyboard.type('harbour');
  await expect(dialog.getByText('2 types')).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(box('All types: Read')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(box('harbour: Update')).toBeFocused();
  await page.keyboard.press('Space');
  await expect(box('harbour: Update')).toBeChecked();
  // The right to update includes the right to read.
  await expect(box('harbour: Read')).toBeChecked();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Space');
  await expect(box('harbourpilot: Read')).toBeChecked();
  await expect(box('harbourpilot: Read')).toBeDisabled();
  await page.keyboard.press('Control+End');
  await expect(box('harbourpilot: Delete')).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await expect(page.getByText('All types: Read; harbour: Read, Update')).toBeVisible();
});

test('names each right on a phone, and nothing is cut off', async ({ page, server }) => {
  await addManaged(server);
  await page.setViewportSize(PHONE);
  await openScreen(page, 'keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const row = page.getByRole('dialog').getByRole('row', { name: /^Post/ });
  for (const right of ['Read', 'Create', 'Update', 'Delete'])
    await expect(row.getByText(right, { exact: true })).toBeVisible();
  await row.getByText('Create', { exact: true }).click();
  await expect(row.getByRole('checkbox', { name: 'Post: Create' })).toBeChecked();
  await expectNoSidewaysScroll(page, 'a new key');
  await expectAccessible(page);
  await openScreen(page, 'system');
  await page.getByText('Routes by time').click();
  await expect(page.getByRole('cell', { name: /GET \/api/ }).first()).toBeVisible();
  await expectNoSidewaysScroll(page, 'the routes');
  await expectAccessible(page);
  await openScreen(page, 'users');
  await page.getByRole('link', { name: 'Ben Holt' }).click();
  await page.getByRole('radio', { name: /^Custom/ }).check();
  await page.getByRole('checkbox', { name: 'Post: Read' }).check();
  await expectNoSidewaysScroll(page, 'the rules of a user');
  await expectAccessible(page);
});

test('ends one session and all others, and keeps the focus in the list', async ({
  page,
  server,
  browser,
}) => {
  const user = await createUser(server, 'editor');
  const others: Page[] = [];
  for (let count = 0; count < 3; count += 1) {
    const other = await browser.newPage();
    await createSession(other, user);
    others.push(other);
  }
  const ended = async () => {
    const found = others.map(async (other) => (await other.request.get('/api/v1/session')).status() === 401);
    return (await Promise.all(found)).filter(Boolean).length;
  };
  await createSession(page, user);
  await page.goto('/admin/me');
  const ends = page.getByRole('button', { name: /End the session/ });
  await expect(ends).toHaveCount(3);
  await ends.nth(1).press('Enter');
  await expect(page.getByText('The session has ended.')).toBeVisible();
  await expect(ends).toHaveCount(2);
  await expect(ends.nth(1)).toBeFocused();
  expect(await ended()).toBe(1);
  await page.getByRole('button', { name: 'End all others' }).press('Enter');
  await expect(ends).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Sessions' })).toBeFocused();
  expect(await ended()).toBe(3);
  for (const other of others) await other.close();
});

test('moves the focus to the next key after one was revoked', async ({ page, server }) => {
  for (const name of ['first', 'second']) {
    const body = { name, kind: 'scoped', rules: [{ ctd: '*', read: true }] };
    await server.send('POST', '/api/v1/internal/key', body);
  }
  await open(page, 'keys');
  for (const [name, next] of [
    ['first', 'second'],
    ['second', 'read-only'],
  ]) {
    await page.getByRole('button', { name: `Actions for ${String(name)}`, exact: true }).press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).press('Enter');
    await expect(page.getByRole('button', { name: `Actions for ${String(name)}`, exact: true })).toHaveCount(
      0,
    );
    await expect(
      page.getByRole('button', { name: `Actions for ${String(next)}`, exact: true }),
    ).toBeFocused();
  }
  await expectAccessible(page);
});

test('shows the history of one object', async ({ page, server }) => {
  await addManaged(server);
  await open(page, 'activity');
  await page.getByRole('button', { name: 'History of Tidewater' }).first().click();
  await expect(page).toHaveURL(/type=product/);
  await expect(page).toHaveURL(/id=tidewater/);
  await expect(page.getByText('Object Tidewater')).toBeVisible();
  const rows = page.getByRole('main').getByRole('listitem');
  await expect(rows).toHaveCount(2);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove all filters' }).click();
  await expect(page).not.toHaveURL(/type=/);
});

test('shows the changes of some days', async ({ page }) => {
  await open(page, 'activity');
  const rows = page.getByRole('main').getByRole('listitem');
  const today = await page.evaluate(() => {
    const now = new Date();
    const digits = (value: number) => String(value).padStart(2, '0');
    return `${String(now.getFullYear())}-${digits(now.getMonth() + 1)}-${digits(now.getDate())}`;
  });
  await page.getByLabel('To', { exact: true }).fill('2020-01-31');
  await expect(page.getByText('No change matches these filters.')).toBeVisible();
  await expect(page).toHaveURL(/to=2020-01-31/);
  await page.getByLabel('To', { exact: true }).fill(today);
  await page.getByLabel('From', { exact: true }).fill('2020-01-01');
  await expect(rows.first()).toBeVisible();
  await page.reload();
  await expect(page.getByLabel('From', { exact: true })).toHaveValue('2020-01-01');
  await expect(rows.first()).toBeVisible();
  await expectAccessible(page);
});

test('shows what another administrator rebuilds and changes', async ({ page, server }) => {
  await server.request('POST', '/api/v1/internal/reindex', { contentTypes: ['post', 'author'] });
  const bulk = { action: 'patch', patch: { excerpt: 'Soon.' }, filters: {}, expect: 16 };
  await server.send('POST', '/api/v1/content/post/bulk', bulk);
  await open(page, 'system');
  const rebuild = page.getByRole('listitem').filter({ hasText: 'Post, Author · Done' });
  await expect(rebuild).toContainText('21 of 21 objects · admin · ');
  await expect(page.getByRole('listitem').filter({ hasText: '16 of 16' })).toContainText(
    /Post · Done.*admin/,
  );
  await server.request('POST', '/api/v1/internal/reindex', {});
  await page.reload();
  await expect(page.getByRole('listitem').getByText('All types · Done')).toBeVisible();
  await expect(rebuild).toHaveCount(0);
});

test('continues the rebuild of the index when the screen is left', async ({ page }) => {
  await open(page, 'system');
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible();
  await page.getByRole('link', { name: 'System', exact: true }).click();
  await expect(page.getByRole('listitem').getByText('All types · Done')).toBeVisible();
  await expect(page.getByText('cms reindex')).toBeVisible();
  await expectAccessible(page);
});

test('stops a check by its button, and when the screen is left', async ({ page }) => {
  await open(page, 'system');
  const section = page.getByRole('region', { name: 'Integrity' });
  const check = section.getByRole('button', { name: 'Check', exact: true });
  const stop = section.getByRole('button', { name: 'Stop', exact: true });
  const stopped = section.getByText('Stopped. The check is not complete.');
  const aborted = () =>
    page.waitForEvent('requestfailed', (request) => request.url().endsWith('/internal/check'));
  // A check that never ends: its request gets no response.
  await page.route('**/internal/check', () => undefined);
  await check.click();
  await expect(stop).toBeVisible();
  await expectAccessible(page);
  const byButton = aborted();
  await stop.press('Enter');
  await byButton;
  await expect(stopped).toBeVisible();
  await expect(stop).toHaveCount(0);
  await expect(section.getByRole('heading')).toBeFocused();
  await expectAccessible(page);

  await check.click();
  await expect(stop).toBeVisible();
  await expect(stopped).toHaveCount(0);
  const byLeaving = aborted();
  await page.getByRole('link', { name: 'Activity', exact: true }).click();
  await byLeaving;
  await page.unroute('**/internal/check');
  await page.getByRole('link', { name: 'System', exact: true }).click();
  await check.click();
  await expect(section.getByText(/No inconsistency found\. \d+ files\./)).toBeVisible();
  await expect(stop).toHaveCount(0);
});

test('leads from a missing file to its object, and offers no repair for it', async ({ page, server }) => {
  const folder = join(server.folder, 'data/media');
  const name = readdirSync(folder).find((file) => file.startsWith('_media-')) ?? '';
  rmSync(join(folder, name));
  await open(page, 'system');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(page.getByText('1 finding')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Repair' })).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole('link', { name }).click();
  await expect(page).toHaveURL(new RegExp(`/media/${name}$`));
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
});
