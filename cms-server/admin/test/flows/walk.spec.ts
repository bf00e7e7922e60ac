// First steps of an editor who has never seen the page: which element has the focus, and what works without an
// explanation.
import type { Page } from '@playwright/test';
import { expect, expectAccessible, open, signIn, test } from '../support';
import type { Server } from '../server';
import { enableDraftPublic } from '../types';

async function edit(server: Server, id: string, values: Record<string, unknown>) {
  await server.send('PATCH', '/api/v1/content/post/batch', [{ id, ...values }]);
}

const side = (page: Page) => page.getByRole('navigation', { name: 'Navigation' });

test('writes a post by keyboard from its first field on', async ({ page, server }) => {
  await enableDraftPublic(server, 'post');
  await open(page, 'c/post');
  await page.getByRole('link', { name: 'New: Post' }).click();
  await expect(page.getByLabel('Title')).toBeFocused();
  await page.keyboard.type('The lamp on the lock gate');
  const author = page.getByRole('combobox', { name: 'Author: search' });
  await author.fill('maren');
  await expect(page.getByRole('option', { name: 'Maren Holloway' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: /^Author/ }).getByText('Maren Holloway')).toBeVisible();
  // An image of the library is inserted by choosing it.
  const text = page.getByRole('textbox', { name: 'Content' });
  await text.click();
  await page.keyboard.type('/');
  await page.keyboard.type('image');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('searchbox', { name: /Search by name/ })).toBeFocused();
  await page.keyboard.type('dawn');
  await page.getByRole('option', { name: /mill-at-dawn/ }).dblclick();
  await expect(text.locator('img')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(text).toBeFocused();
  // The side bar stays in view beside a long form.
  await page.locator('main > .pane > .content').evaluate((content) => content.scrollTo(0, 1e6));
  await expect(side(page).getByRole('link', { name: 'Home' })).toBeInViewport();
  await expectAccessible(page);
});

test('returns the focus when a dialog closes', async ({ page }) => {
  await open(page, 'c/post/the-grinder-that-sang');
  const text = page.getByRole('textbox', { name: 'Content' });
  await text.click();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Search or jump to' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(text).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+Shift+k');
  await expect(page.getByLabel('Address')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(text).toBeFocused();
});

test('publishes later from the dialog that publishes', async ({ page, server }) => {
  await enableDraftPublic(server, 'post');
  await edit(server, 'the-grinder-that-sang', { minutes: 9 });
  await open(page, 'c/post/the-grinder-that-sang');
  const opener = page.getByRole('button', { name: 'Publish…' }).last();
  await opener.click();
  await page.getByRole('button', { name: 'Publish later…' }).click();
  await expect(page.getByLabel('Date and time')).toBeFocused();
  await expect(page.getByRole('dialog')).toContainText('tomorrow');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(opener).toBeFocused();
  await opener.click();
  await page.getByRole('button', { name: 'Publish later…' }).click();
  await page.getByRole('button', { name: 'Schedule', exact: true }).click();
  await expect(page.getByText(/Will be published .*9:00/).first()).toBeVisible();
});

test('shows what a colleague changed from the list of changes', async ({ page, server }) => {
  await edit(server, 'the-grinder-that-sang', { excerpt: 'A hihg note at the end of every dose.' });
  await signIn(page);
  await page.getByRole('link', { name: 'Changed: Excerpt' }).first().click();
  await expect(page.getByRole('heading', { name: /Compare versions/ })).toBeFocused();
  await expect(page.getByText('hihg')).toBeVisible();
  await expectAccessible(page);
});

test('names linked objects in the dry run of a bulk job, and the schedules that it cancels', async ({
  page,
  server,
}) => {
  await enableDraftPublic(server, 'post');
  await open(page, 'c/post?q=sack');
  await page
    .getByRole('row', { name: /last sack/ })
    .getByRole('checkbox')
    .check();
  await page
    .getByRole('row', { name: /size of a kitchen/ })
    .getByRole('checkbox')
    .check();
  await page.getByRole('button', { name: 'Edit a property…' }).click();
  await expect(page.getByLabel('Property', { exact: true })).toBeFocused();
  await page.getByLabel('Property', { exact: true }).selectOption({ label: 'Author' });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Author: search' }).fill('maren');
  await expect(dialog.getByRole('option', { name: 'Maren Holloway' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('cell', { name: 'Tomás Quintero Vélez' })).toBeVisible();
  await expect(dialog.getByRole('cell', { name: 'Maren Holloway' })).toBeVisible();
  await expect(dialog.getByRole('cell', { name: 'no change' })).toBeVisible();
  await expect(dialog).toContainText('Scheduled publications of these objects are cancelled,');
  await expectAccessible(page);
});
