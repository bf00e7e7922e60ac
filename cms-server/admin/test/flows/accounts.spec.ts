import { createSession, createUser, expect, expectAccessible, open, signIn, test } from '../support';
import { ADMIN } from '../server';
import type { Page } from '@playwright/test';
import type { Server } from '../server';

/** The path of a link from the server: the tests may open the page at another origin. */
function pathOf(link: string): string {
  return link.slice(link.indexOf('/admin'));
}

async function linkFor(server: Server, body: Record<string, unknown>): Promise<string> {
  const { link } = await server.send('POST', '/api/v1/internal/user', body);
  return link.url;
}

async function fillPassword(page: Page, label: string, password: string) {
  await page.getByLabel(label, { exact: true }).fill(password);
}

test.describe('without a user', () => {
  test.use({ options: { user: false, content: false } });

  test('creates the first administrator with the set-up link', async ({ page, server }) => {
    await page.goto('/admin');
    await expect(page.getByText('cms user create')).toBeVisible();
    await expectAccessible(page);
    const link = /CMS_SETUP_URL=(\S+)/.exec(server.output)?.[1] ?? '';
    await page.goto(pathOf(link));
    await expect(page.getByRole('heading', { name: 'Set up cms' })).toBeVisible();
    expect(page.url()).not.toContain('code');
    await expectAccessible(page);
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Name').fill('Ada Moor');
    await fillPassword(page, 'Password', 'short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await expect(page.getByText('Must be at least 12 characters long')).toBeVisible();
    await fillPassword(page, 'Password', 'a long enough passphrase');
    await page.getByRole('button', { name: 'Create account' }).click();
    await expect(page.getByRole('button', { name: 'Ada Moor' })).toBeVisible();
    await expectAccessible(page);
  });
});

test('sets a password by an invitation, and the link works once', async ({ page, server }) => {
  const link = await linkFor(server, { email: 'ben@example.com', name: 'Ben Holt', role: 'editor' });
  await page.goto(pathOf(link));
  await expect(page.getByRole('heading', { name: 'Welcome, Ben Holt' })).toBeVisible();
  await expect(page.getByLabel('E-mail')).toHaveValue('ben@example.com');
  await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('autocomplete', 'new-password');
  await expectAccessible(page);
  await fillPassword(page, 'Password', 'ben has a passphrase');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('button', { name: 'Ben Holt' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/admin/sign-in');
  await page.goto('/admin');
  await page.goto(pathOf(link));
  await expect(page.getByRole('heading', { name: 'This link is no longer valid' })).toBeVisible();
  await expect(page.getByText('Ask an administrator')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Go to sign-in' }).click();
  await signIn(page, { email: 'ben@example.com', password: 'ben has a passphrase' });
});

test('sets a new password by the link of an administrator', async ({ page, server }) => {
  const { email, password } = await createUser(server, 'author');
  await signIn(page);
  await page.getByRole('link', { name: 'Users' }).click();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'author user' }).click();
  await expect(page.getByRole('heading', { name: 'Recent activity' })).toBeVisible();
  await page.getByRole('button', { name: 'Create link for a new password' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'ada', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/admin/sign-in');
  await page.goto(pathOf(link));
  await fillPassword(page, 'Password', 'the new passphrase');
  await page.getByRole('button', { name: 'Set password' }).click();
  await expect(page.getByRole('button', { name: 'author user' })).toBeVisible();
  const body = { email, password };
  const old = await server.request('POST', '/api/v1/session', body, { 'X-CMS-Request': '1' });
  expect(old.status).toBe(401);
});

test('refuses a wrong password, and pauses after too many', async ({ page }) => {
  await page.goto('/admin');
  await page.getByLabel('E-mail').fill(ADMIN.email);
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('The e-mail address or the password is wrong.');
  await expectAccessible(page);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (await page.getByText('Too many failed attempts').isVisible()) break;
    const response = page.waitForResponse('**/api/v1/session');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await response;
    await expect(page.getByRole('alert')).toBeVisible();
  }
  await expect(page.getByText(/Too many failed attempts. Try again at \d\d:\d\d:\d\d/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeDisabled();
  await expectAccessible(page);
});

test('returns to the requested address after sign-in', async ({ page }) => {
  await page.goto('/admin/c/author/maren');
  await signIn(page);
  await expect(page.getByRole('heading', { name: 'Maren Holloway' })).toBeVisible();
  expect(page.url()).toContain('/admin/c/author/maren');
});

test('names the reason when single sign-on failed', async ({ page }) => {
  await page.goto('/admin/sign-in#error=openid_domain');
  await expect(page.getByRole('alert')).toContainText(
    'E-mail addresses of your domain may not sign in here.',
  );
  expect(page.url()).not.toContain('error');
  await expectAccessible(page);
});

test('ends the other sessions when the password changes', async ({ page, server, browser }) => {
  const user = await createUser(server, 'editor');
  const other = await browser.newPage();
  await createSession(other, user);
  await other.goto('/admin');
  await signIn(page, user);
  await page.getByRole('button', { name: 'editor user' }).click();
  await page.getByRole('menuitem', { name: 'My settings' }).click();
  await expect(page.getByText('(this session)')).toBeVisible();
  await expect(page.getByRole('button', { name: /End the session/ })).toHaveCount(1);
  await expectAccessible(page);
  await fillPassword(page, 'Current password', 'not my password');
  await fillPassword(page, 'New password', 'another passphrase');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('This value is not valid.')).toBeVisible();
  await fillPassword(page, 'Current password', user.password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('all other sessions have ended')).toBeVisible();
  await expect(page.getByRole('button', { name: /End the session/ })).toHaveCount(0);
  await other.reload();
  await expect(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await other.close();
});

test('keeps language, colours and shortcuts in another browser', async ({ page, browser }) => {
  await open(page, 'me');
  await page.getByRole('radio', { name: 'Dark' }).check();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expectAccessible(page);
  await page.getByRole('radio', { name: 'High contrast' }).check();
  await expectAccessible(page);
  await page.getByLabel('Language').selectOption('de');
  await expect(page.getByRole('heading', { name: 'Meine Einstellungen' })).toBeVisible();
  const other = await browser.newPage();
  await other.goto('/admin');
  await signIn(other);
  await expect(other.locator('html')).toHaveAttribute('lang', 'de');
  await expect(other.locator('html')).toHaveAttribute('data-theme', 'contrast');
  await other.close();
});

test('lists the shortcuts with a question mark, unless they are off', async ({ page }) => {
  await open(page, 'me');
  await page.getByRole('heading', { name: 'My settings' }).click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Shortcuts' })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByLabel('Keyboard shortcuts').uncheck();
  await page.getByRole('heading', { name: 'My settings' }).click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('does not let the last administrator lock everybody out', async ({ page }) => {
  await open(page, 'users');
  await page.getByRole('link', { name: 'ada', exact: true }).click();
  await expect(page.getByText('This is the last admin who can sign in.').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disable' })).toBeDisabled();
  await expect(page.getByRole('button', { name: 'Delete…' })).toBeDisabled();
  await expect(page.getByRole('radio', { name: /^Editor/ })).toBeDisabled();
  await expectAccessible(page);
});

test('invites a user with rules, disables and deletes them', async ({ page }) => {
  await open(page, 'users');
  await page.getByRole('button', { name: 'Invite user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Dan Wyke');
  await dialog.getByLabel('E-mail').fill('ADA@example.com');
  await dialog.getByRole('radio', { name: /^Custom/ }).check();
  await dialog.getByRole('checkbox', { name: 'post: Update' }).check();
  await expect(dialog.getByRole('checkbox', { name: 'post: Read' })).toBeChecked();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create invitation' }).click();
  await expect(dialog.getByText('This value is already used')).toBeVisible();
  await dialog.getByLabel('E-mail').fill('dan@example.com');
  await dialog.getByRole('button', { name: 'Create invitation' }).click();
  await expect(page.getByRole('dialog', { name: 'Dan Wyke is invited' })).toBeVisible();
  await expect(page.getByLabel('Link', { exact: true })).toHaveValue(/#code=/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('row', { name: /Dan Wyke/ })).toContainText('Invited, until');
  await page.getByLabel('Role').selectOption('custom');
  await expect(page.getByRole('row')).toHaveCount(2);
  expect(page.url()).toContain('role=custom');
  await page.getByRole('link', { name: 'Dan Wyke' }).click();
  await page.getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('button', { name: 'Enable' })).toBeVisible();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await expect(page.getByRole('dialog')).toContainText('Unsaved work, settings, sessions');
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('Dan Wyke is deleted.')).toBeVisible();
});
