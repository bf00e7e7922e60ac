// Texts and lists that are far larger than anybody plans for: they open, can be edited and saved, or the page
// says why not.
import { expect, expectAccessible, open, test } from '../support';
import { openForm, paste, saveButton } from '../writing';

const MEGABYTE = 1_000_000;
const LINE = 'Megabytes of the same sentence.\n';
/** Twice as large as an object may be. */
const TOO_LARGE = LINE.repeat((2 * MEGABYTE) / LINE.length);
/** As large as an object may be, with room for its other properties. */
const ALLOWED = LINE.repeat((0.9 * MEGABYTE) / LINE.length);

test.describe('2 MB pasted', () => {
  test.beforeEach(() => test.setTimeout(120_000));

  test('into lines and areas of text: stays stored, and says that it is too large', async ({ page }) => {
    await openForm(page, 'c/author/maren');
    await paste(page.getByLabel('Name'), TOO_LARGE);
    await paste(page.getByLabel('Bio'), TOO_LARGE);
    // The text keeps the focus, although another editor shows it now.
    await expect(page.getByLabel('Bio')).toBeFocused();
    await page.keyboard.type('!');
    await expect(page.getByText(/2 changes, stored/)).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Control+s');
    await expect(page.getByRole('alert').filter({ hasText: 'at most 1 MB' })).toBeVisible();
    await page.getByLabel('Name').fill('Maren again');
    await paste(page.getByLabel('Bio'), ALLOWED);
    await page.keyboard.press('Control+s');
    await expect(page.getByText(/Saved as version/)).toBeVisible();
    await expectAccessible(page);
  });

  test('into rich text: is refused with a message, and a shorter text opens and saves', async ({
    page,
    server,
  }) => {
    const path = '/api/v1/content/product/tidewater';
    await openForm(page, 'c/product/tidewater');
    const text = page.getByRole('textbox', { name: 'Description', exact: true });
    await paste(text, TOO_LARGE, `<p>${TOO_LARGE}</p>`);
    await expect(page.getByText(/longer than 1 MB/)).toBeVisible();
    await text.press('End');
    await text.pressSequentially('Typed after it.');
    await saveButton(page).click();
    await expect(page.getByText(/Saved as version/)).toBeVisible();
    expect(JSON.stringify(await server.stored('product/tidewater'))).toContain('Typed after it.');
    // A program has stored a text of nearly 1 MB.
    const description = '<p>One of very many paragraphs.</p>'.repeat(25_000);
    await server.send('PATCH', path, { description });
    await page.reload();
    await expect(page.getByText(/very long, so it is shown as source/)).toBeVisible();
    const source = page.getByRole('textbox', { name: /Description/ });
    await source.focus();
    await page.keyboard.type('<!-- typed -->');
    await expectAccessible(page);
    await saveButton(page).click();
    await expect(page.getByText(/Saved as version/).first()).toBeVisible();
    expect(String((await server.stored('product/tidewater')).description)).toContain('typed');
  });

  test('into Markdown: can be edited, and says that it is too large', async ({ page }) => {
    await open(page, 'c/place');
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    const story = page.getByRole('textbox', { name: 'Story' });
    await paste(story, TOO_LARGE);
    await page.keyboard.type('written on');
    await expect(page.getByText(/1 change, stored/)).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Control+s');
    await expect(page.getByRole('alert').filter({ hasText: 'at most 1 MB' })).toBeVisible();
    await paste(story, ALLOWED);
    await page.keyboard.press('Control+s');
    await expect(page.getByText(/Saved as version/)).toBeVisible();
    await expectAccessible(page);
  });
});

test.describe('10,000 items', () => {
  const COUNT = 10_000;

  test('of lines: opens, moves to the end, types and saves', async ({ page, server }) => {
    const languages = Array.from({ length: COUNT }, (_none, index) => `language ${String(index + 1)}`);
    await server.send('PATCH', '/api/v1/content/author/maren', { languages });
    await openForm(page, 'c/author/maren');
    const group = page.getByRole('group', { name: 'Languages' });
    await expect(group.getByRole('textbox')).toHaveCount(100);
    await expectAccessible(page);
    await group.getByRole('button', { name: 'Show more' }).click();
    await expect(group.getByRole('textbox')).toHaveCount(200);
    await group.getByRole('button', { name: 'To the last' }).click();
    await expect(group.getByLabel('Languages, new item')).toBeFocused();
    await page.keyboard.type('the last one');
    await expect(group.getByLabel('Languages, item 10001')).toHaveValue('the last one');
    // An item moves across items that are not shown.
    await group.getByRole('button', { name: 'Move the last one', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Move to the start' }).click();
    await expect(group.getByLabel('Languages, item 1', { exact: true })).toHaveValue('the last one');
    expect(await group.getByRole('textbox').count()).toBeLessThan(500);
    await saveButton(page).click();
    await expect(page.getByText('No changes')).toBeVisible({ timeout: 30_000 });
    const stored = (await server.stored('author/maren')).languages as string[];
    expect([stored.length, stored[0], stored[1]]).toEqual([COUNT + 1, 'the last one', 'language 1']);
    // Many pasted lines are many items.
    const line = group.getByLabel('Languages, item 2', { exact: true });
    await paste(line, Array.from({ length: COUNT }, (_none, index) => `pasted ${String(index)}`).join('\n'));
    await expect(group.getByLabel('Languages, item 10001', { exact: true })).toHaveValue('pasted 9999');
    await expectAccessible(page);
  });

  test('with properties: shows a part, and goes to the item with an error', async ({ page, server }) => {
    const hours = Array.from({ length: COUNT }, (_none, index) => ({ day: `D${String(index)}`, hours: '9' }));
    const places = await server.send('GET', '/api/v1/content/place?limit=1&fields[]=id');
    const { id } = (places as { data: [{ id: string }] }).data[0];
    await server.send('PATCH', `/api/v1/content/place/${id}`, { opening: hours });
    await openForm(page, `c/place/${id}`);
    const group = page.getByRole('group', { name: 'Opening hours' });
    await expect(group.getByText('10000 items')).toBeVisible();
    expect(await group.getByRole('textbox').count()).toBeLessThan(250);
    await group.getByRole('button', { name: /Add to Opening hours/ }).click();
    // The new item is shown and has the focus; the middle of the list is not rendered.
    await page.keyboard.type('New day');
    await expect(group.getByText('10001 items')).toBeVisible();
    expect(await group.getByRole('textbox').count()).toBeLessThan(400);
    await page.evaluate(() => document.querySelector('main .content')?.scrollTo(0, 0));
    await group.getByRole('button', { name: 'To the first' }).click();
    await saveButton(page).click();
    const summary = page.getByRole('alert').filter({ hasText: '1 validation error' });
    await expect(summary).toContainText('10001');
    await expect(page.locator('[data-path="opening[10000].hours"] input')).toBeFocused();
    await page.keyboard.type('10 to 12');
    await saveButton(page).click();
    await expect(page.getByText(/Saved as version/)).toBeVisible();
    const stored = (await server.stored(`place/${id}`)).opening as unknown[];
    expect(stored.at(-1)).toEqual({ day: 'New day', hours: '10 to 12' });
    await expectAccessible(page);
  });
});
