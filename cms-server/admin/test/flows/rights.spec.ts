import { createSession, createUser, expect, expectAccessible, test } from '../support';
import { enableDraftPublic } from '../types';

test.beforeEach(({ server }) => enableDraftPublic(server, 'author'));

test('does not let an author publish', async ({ page, server }) => {
  const user = await createUser(server, 'author');
  await createSession(page, user);
  await page.goto('/admin/c/author/maren');
  const panel = page.getByRole('complementary');
  await expect(panel).toContainText('Public');
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menuitem', { name: /Schedule/ })).toContainText('no right to publish');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Name' }).fill('Maren H.');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await expect(panel).toContainText('Readers see version');
  await expect(page.getByRole('button', { name: 'Publish…' })).toHaveCount(0);
});

test('lets a viewer read and change nothing', async ({ page, server }) => {
  const user = await createUser(server, 'viewer');
  await createSession(page, user);
  await page.goto('/admin/c/author/maren');
  await expect(page.getByLabel('Name')).not.toBeEditable();
  await expect(page.getByRole('button', { name: /Save|Publish/ })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Users' })).toHaveCount(0);
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('no right to delete');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /Versions/ }).click();
  await expect(page.getByRole('button', { name: /Restore/ })).toHaveCount(0);
  await expectAccessible(page);
  await page.goto('/admin/users');
  await expect(page.getByText('You may not see this.')).toBeVisible();
});

test('lets a custom role see and do only what its rules allow', async ({ page, server }) => {
  const rule = { ctd: 'author', create: false, read: true, update: true, delete: false };
  const user = await createUser(server, 'custom', { rules: [rule], mayPublish: true });
  await createSession(page, user);
  await page.goto('/admin/c/author/maren');
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  await expect(navigation.getByRole('link', { name: /author/i })).toBeVisible();
  await expect(navigation.getByRole('link', { name: /product/i })).toHaveCount(0);
  await page.getByRole('textbox', { name: 'Name' }).fill('Maren H.');
  await expect(page.getByRole('complementary').getByRole('button', { name: 'Publish…' })).toBeVisible();
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('no right to delete');
  await expect(page.getByRole('menuitem', { name: /Duplicate/ })).toContainText('no right to create');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.goto('/admin/c/product');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Spring tide' })).toHaveCount(0);
});

test('says that a screen is not allowed after the role has changed', async ({ page, server }) => {
  const user = await createUser(server, 'admin');
  await createSession(page, user);
  await page.goto('/admin/users');
  await expect(page.getByRole('row', { name: /admin user/ })).toBeVisible();
  await server.send('PUT', `/api/v1/internal/user/${user.id}`, { role: 'viewer' });
  await page.goto('/admin/users');
  await expect(page.getByText('You may not see this.')).toBeVisible();
  await expectAccessible(page);
});

test('shows no header values of webhooks to a role that may only read them', async ({ page, server }) => {
  await server.send('POST', '/api/v1/content/_webhooks', {
    id: 'hook',
    name: 'Hook',
    type: 'async',
    url: 'https://hooks.example.com/x',
    content_type_definitions: [],
    actions: [{ action: 'Update' }],
    headers: [{ header_name: 'Authorization', header_value: 'very-secret' }],
    enabled: false,
  });
  const rule = { ctd: '_webhooks', create: false, read: true, update: false, delete: false };
  const user = await createUser(server, 'custom', { rules: [rule] });
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    // Only JSON is read: the stream of changes never ends.
    if (/json/.test(response.headers()['content-type'] ?? '')) bodies.push(response.text().catch(() => ''));
  });
  await createSession(page, user);
  await page.goto('/admin/c/_webhooks/hook');
  await expect(page.getByLabel('Header value')).toHaveValue('********');
  const versions = page.waitForResponse(/\/version/);
  await page.getByRole('link', { name: /Versions/ }).click();
  await (await versions).finished();
  expect((await Promise.all(bodies)).some((body) => body.includes('********'))).toBe(true);
  expect((await Promise.all(bodies)).filter((body) => body.includes('very-secret'))).toEqual([]);
});
