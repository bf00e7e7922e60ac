// Writing and publishing without a pointer, and putting things in order with a pointer and with keys.
import type { Locator, Page } from '@playwright/test';
import { addManaged, openScreen, tabTo } from '../screens';
import { createNews } from '../news';
import { expect, expectAccessible, signIn, test } from '../support';
import { openForm, saveButton } from '../writing';

test('writes, corrects and publishes a post without a pointer', async ({ page, server }) => {
  test.setTimeout(180_000);
  await addManaged(server);
  await page.goto('/admin');
  await signIn(page);
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeFocused();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('new post');
  await expect(page.getByRole('option', { name: /New.*Post/ }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Title')).toBeFocused();
  await page.keyboard.type('A lamp for the lock');

  // Saved too early: the errors are read out, and the first field with an error gets the focus.
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByRole('alert')).toContainText('Published');
  await expect(page.getByLabel(/^Published/)).toBeFocused();
  await page.keyboard.type('03112026');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0930a');
  await tabTo(page, /^Author: search/);
  await page.keyboard.type('maren');
  await expect(page.getByRole('option', { name: 'Maren Holloway' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: /^Author/ }).getByText('Maren Holloway')).toBeVisible();
  await tabTo(page, /^Excerpt/);
  await page.keyboard.type('It burns all night.');
  const text = page.getByRole('textbox', { name: 'Content' });
  await tabTo(page, /^Content$/);
  await expect(text).toBeFocused();
  await page.keyboard.type('The keeper lights it at six.');
  await expectAccessible(page);
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByText('Saved as version 1.')).toBeVisible();
  const address = page.url();

  await page.keyboard.press('ControlOrMeta+Shift+p');
  const dialog = page.getByRole('dialog', { name: /Publish/ });
  await expect(dialog).toContainText('Readers see it for the first time.');
  await tabTo(page, /^Publish$/);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Published.', { exact: true })).toBeVisible();
  await expect(page.getByRole('complementary')).toContainText('Readers see this version.');
  expect(page.url()).toBe(address);
  // The focus is still in the page, not at its beginning.
  expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  await expectAccessible(page);
});

test('keeps the focus after a save or a restore, in a dialog that loads, and after a message', async ({
  page,
  server,
}) => {
  await createNews(server, 2);
  await openForm(page, 'c/news/news-0');
  await page.getByLabel('Title').fill('Changed');
  await saveButton(page).press('Enter');
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expect(saveButton(page)).toBeDisabled();
  await expect(saveButton(page)).toBeFocused();
  // Nothing is left to save.
  await page.keyboard.press('Enter');
  await page.getByLabel('Title').press('Enter');
  expect((await server.stored('news/news-0')).internal).toMatchObject({ latestVersion: 2 });

  await page.goto('/admin/c/news');
  await page.getByLabel('Select all rows on this page').check();
  const publish = page.getByRole('button', { name: 'Publish', exact: true });
  await publish.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Publish 2 objects' })).toBeEnabled();
  await expect(dialog.locator(':focus')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(publish).toBeFocused();
  await publish.press('Enter');
  await dialog.getByRole('button', { name: 'Publish 2 objects' }).press('Enter');
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  const undone = page.getByText('Undone.', { exact: true });
  await expect(undone).toBeVisible();
  await expect(page.locator(':focus')).toBeVisible();
  // A message that disappears after its time.
  await page.getByRole('status').filter({ has: undone }).getByRole('button', { name: 'Close' }).focus();
  await expect(undone).toHaveCount(0);
  await expect(page.locator(':focus')).toBeVisible();

  for (const number of [0, 1]) await server.request('DELETE', `/api/v1/content/news/news-${String(number)}`);
  await page.goto('/admin/trash');
  for (const left of [1, 0]) {
    await page
      .getByRole('button', { name: /^Restore: / })
      .first()
      .press('Enter');
    await expect(page.getByRole('button', { name: /^Restore: / })).toHaveCount(left);
    await expect(page.locator(':focus')).toBeVisible();
  }
});

/** Drags with a real pointer, in steps, to the middle of a target. */
async function drag(page: Page, handle: Locator, target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  await handle.scrollIntoViewIfNeeded();
  const [from, to] = [await handle.boundingBox(), await target.boundingBox()];
  if (!from || !to) throw new Error('nothing to drag');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
  await page.mouse.up();
}

const titles = (list: Locator) =>
  list
    .getByRole('listitem')
    .evaluateAll((items) =>
      items.map(
        (item) => item.querySelector('button[aria-haspopup="menu"]')?.getAttribute('aria-label') ?? '',
      ),
    );

test('puts links in order with a pointer, with keys and with the menu', async ({ page, server }) => {
  const link = (id: string) => ({ type: 'internal', dataUrl: `/api/v1/content/place/${id}` });
  const places = ['tidemill', 'kronan', 'boatyard'].map(link);
  await server.request('PATCH', '/api/v1/content/post/batch', [{ id: 'the-ten-oclock-boat', places }]);
  await openScreen(page, 'c/post/the-ten-oclock-boat');
  const list = page.getByRole('group', { name: 'Places', exact: true }).getByRole('list').first();
  await expect(list.getByRole('listitem')).toHaveCount(3);
  const [first, second, third] = await titles(list);
  const handle = (name: string | undefined) => list.getByRole('button', { name: name ?? '', exact: true });

  await drag(page, handle(third), list.getByRole('listitem').first());
  await expect.poll(() => titles(list)).toEqual([third, first, second]);
  // A press without a move opens the menu; a drag does not.
  await expect(page.getByRole('menu')).toHaveCount(0);
  await handle(third).click();
  await page.getByRole('menuitem', { name: 'Move to the end' }).click();
  await expect.poll(() => titles(list)).toEqual([first, second, third]);
  await handle(first).press('Alt+ArrowDown');
  await expect.poll(() => titles(list)).toEqual([second, first, third]);
  await expect(handle(first)).toBeFocused();
  await expectAccessible(page);

  await page.getByRole('button', { name: /^Save/ }).first().click();
  await expect(page.getByText(/Saved as version/).first()).toBeVisible();
  const saved = await server.stored('post/the-ten-oclock-boat');
  expect(saved.places).toMatchObject(['kronan', 'tidemill', 'boatyard'].map(link));
});

test('puts the blocks of a text in order with a pointer and with keys', async ({ page, server }) => {
  const block = (id: string, text: string) => ({ id, type: 'paragraph', data: { text } });
  const content = {
    time: 1,
    version: '2.30',
    blocks: [block('a', 'One'), block('b', 'Two'), block('c', 'Three')],
  };
  await server.request('PATCH', '/api/v1/content/post/batch', [{ id: 'the-ten-oclock-boat', content }]);
  await openScreen(page, 'c/post/the-ten-oclock-boat');
  const text = page.getByRole('textbox', { name: 'Content' });
  const paragraphs = text.locator('p');
  await expect(paragraphs).toHaveText(['One', 'Two', 'Three']);
  await paragraphs.nth(2).hover();
  const grip = await page.getByTitle('Drag to move the block').boundingBox();
  const target = await paragraphs.first().boundingBox();
  if (!grip || !target) throw new Error('nothing to drag');
  await page.mouse.move(grip.x + 8, grip.y + 8);
  await page.mouse.down();
  await page.mouse.move(grip.x + 8, grip.y);
  await page.mouse.move(target.x + 5, target.y + 3, { steps: 5 });
  await page.mouse.up();
  await expect(paragraphs).toHaveText(['Three', 'One', 'Two']);
  // The browser ends a drag some time after the drop.
  await expect(async () => {
    await paragraphs.nth(1).click();
    expect(await page.evaluate(() => getSelection()?.focusNode?.textContent)).toBe('One');
  }).toPass();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(paragraphs).toHaveText(['Three', 'Two', 'One']);
  await expectAccessible(page);
});

test('puts the items of a list in order with a pointer', async ({ page }) => {
  await openScreen(page, 'c/place/tidemill');
  const list = page.getByRole('group', { name: 'Opening hours', exact: true }).getByRole('list').first();
  await expect(list.getByRole('listitem')).toHaveCount(2);
  const [first, second] = await titles(list);
  await drag(
    page,
    list.getByRole('button', { name: first ?? '', exact: true }),
    list.getByRole('listitem').last(),
  );
  await expect.poll(() => titles(list)).toEqual([second, first]);
  await page.getByRole('button', { name: 'Reset Opening hours to the stored value' }).click();
  await expect.poll(() => titles(list)).toEqual([first, second]);
  await expectAccessible(page);
});
