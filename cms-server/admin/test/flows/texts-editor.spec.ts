import { holdUploads, pasteImage } from '../media';
import { expect, expectAccessible, open, test } from '../support';
import { focusText, save, text, tool } from '../texts';

test('moves between text, tool bar and the next field by keyboard', async ({ page }) => {
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await editor.focus();
  await page.keyboard.press('Alt+F10');
  await expect(page.getByRole('combobox', { name: 'Text style' })).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(tool(page, 'Bold')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(editor).toBeFocused();
  await expect(tool(page, 'Bold')).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.type('strong');
  await expect(editor.locator('strong')).toHaveText('strong');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(editor).not.toBeFocused();
});

test('inserts an image of the library, and uploads a pasted one', async ({ page, server }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await focusText(editor);
  await page.keyboard.press('ControlOrMeta+End');
  await tool(page, 'Image').click();
  await page.getByRole('listbox', { name: 'Media' }).getByRole('option').first().dblclick();
  // The file has an alternative text, so no dialog asks for one.
  await expect(editor.getByRole('img', { name: /./ })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  // The cursor is in the line after the image; the caption is edited in place.
  await page.keyboard.type('Words behind it');
  await editor.locator('figcaption').first().click();
  await page.keyboard.type('The mill');
  await pasteImage(editor);
  await expect(editor.locator('figure')).toHaveCount(2);
  await expectAccessible(page);
  await save(page);
  const { description } = await server.stored('product/tidewater');
  expect(description).toMatch(
    /<img src="\/image\/0x0\/_media-[^"]+" alt="A stone mill[^"]+"><figcaption>The mill<\/figcaption>/,
  );
  expect(description).toContain('<p>Words behind it</p>');
});

test('puts a pasted image where it was pasted, while the user writes elsewhere', async ({ page, server }) => {
  const release = await holdUploads(page);
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await focusText(editor);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('First half');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Second');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowRight');
  await pasteImage(editor, 'slow.png');
  await expect(editor.getByText('Uploading slow.png…')).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.type(' paragraph');
  release();
  await expect(editor.locator('figure')).toHaveCount(1);
  await page.keyboard.type(' goes on');
  await save(page);
  const { description } = await server.stored('product/tidewater');
  expect(description).toMatch(
    /^<p>First ?<\/p><figure>.*<\/figure><p> ?half<\/p><p>Second paragraph goes on<\/p>$/,
  );
});

test('inserts an image from elsewhere by its address', async ({ page }) => {
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await focusText(editor);
  await page.keyboard.press('ControlOrMeta+End');
  await tool(page, 'Image').click();
  await expect(page.getByRole('searchbox', { name: /Search by name/ })).toBeFocused();
  // After Cancel, no other dialog opens.
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await tool(page, 'Image').click();
  await page.getByRole('button', { name: 'By address…' }).click();
  await page.getByLabel('Address').fill('/icon.svg');
  await page.getByLabel('Alternative text').fill('A boat');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await expect(editor.getByRole('img', { name: 'A boat' })).toBeAttached();
  await expectAccessible(page);
});

test('has the most used tools on a phone, and shows the others on request', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, 'c/post/the-ten-oclock-boat');
  const bar = page.getByRole('toolbar', { name: /Content/ });
  await expect(bar).toBeVisible();
  const seen = (name: string) =>
    bar.getByRole('button', { name, exact: true }).evaluate((button) => {
      const box = button.getBoundingClientRect();
      const { bottom, right } = button.closest('[role=toolbar]')?.getBoundingClientRect() ?? box;
      return box.bottom <= bottom && box.right <= right;
    });
  for (const name of ['Insert block', 'Bold', 'Italic', 'Link', 'Bulleted list', 'Numbered list'])
    expect(await seen(name), name).toBe(true);
  expect(await seen('Undo')).toBe(false);
  const more = page.getByRole('button', { name: 'More tools' });
  await more.click();
  expect(await seen('Undo')).toBe(true);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Fewer tools' }).click();
  expect(await seen('Undo')).toBe(false);
});
