import { expect, expectAccessible, signIn, test } from '../support';
import { createType, typeDefinition } from '../types';

test('shows recent changes and types with their numbers', async ({ page }) => {
  await signIn(page);
  await expect(page.getByRole('heading', { name: 'Recent changes' })).toBeVisible();
  await expect(page.getByRole('link', { name: /^Post\s*16$/ })).toBeVisible();
  await expectAccessible(page);
  // A new object is one click away.
  await page.getByRole('main').getByRole('link', { name: 'New: Post' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'New: Post' })).toBeVisible();
  await page.goBack();
  await page.getByRole('link', { name: 'All activity' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Activity' })).toBeVisible();
  await page.getByLabel('Action', { exact: true }).selectOption({ label: 'signed in' });
  await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(1);
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByLabel('Action', { exact: true })).toHaveValue('session.create');
});

test('shows what waits for an editor, and what is scheduled', async ({ page, server }) => {
  const title = { title: { inputType: 'text' } };
  const types = [
    typeDefinition('memo', 'Memo', title, { workflowId: 'publishing' }),
    typeDefinition('news', 'News', title, { draftPublic: true }),
  ];
  for (const type of types) {
    await createType(server, type);
  }
  await server.request('POST', '/api/v1/content/memo', { id: 'm', title: 'A memo to review' });
  await server.request('PUT', '/api/v1/workflow/memo/m', { action: '_draft_review' });
  await server.request('POST', '/api/v1/content/news', { id: 'n', title: 'Flood' });
  const at = { scheduledAt: '2050-01-02T09:30', timeZone: 'Europe/Paris' };
  await server.send('PUT', '/api/v1/content/news/n/schedule', at);
  await signIn(page);
  await expect(page.getByRole('link', { name: 'A memo to review' }).first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Waiting for you' })).toBeVisible();
  await page.getByRole('link', { name: 'Whole schedule' }).click();
  await expect(page.getByRole('heading', { name: /2 January 2050|January 2, 2050/ })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Flood' })).toBeVisible();
  await expectAccessible(page);
});

test.describe('an empty server', () => {
  test.use({ options: { content: false } });
  test('offers three steps with their commands', async ({ page }) => {
    await signIn(page);
    await expect(page.getByRole('heading', { name: 'This server has no content yet' })).toBeVisible();
    await expect(page.getByText(/cms user create/)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Invite a colleague' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Users' })).toBeVisible();
  });
});
