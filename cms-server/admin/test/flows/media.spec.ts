import type { Page } from '@playwright/test';
import { pasteImage, png } from '../media';
import { ADMIN_KEY } from '../server';
import { expect, expectAccessible, open, test } from '../support';
import { createType, typeDefinition } from '../types';

async function openLibrary(page: Page): Promise<void> {
  await open(page, 'media');
  await expect(page.getByRole('heading', { name: 'Media' })).toBeVisible();
}

test('uploads twelve files, names the two that are refused, and sends one of them again', async ({
  page,
}) => {
  await openLibrary(page);
  const good = Array.from({ length: 10 }, (_none, index) => png(`boat-${String(index + 1)}.png`));
  const large = { name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(10_485_761) };
  const wrong = { name: 'sheet.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') };
  await page.locator('input[type=file]').setInputFiles([...good, large, wrong]);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByText('10 files uploaded.')).toBeVisible({ timeout: 30_000 });
  await expect(uploads.getByText('2 files were refused.')).toBeVisible();
  // Refused files come first. The exact numbers of bytes show that the size is over the limit.
  await expect(uploads.getByRole('listitem').first()).toContainText('film.mp4');
  await expect(uploads.getByText('10,485,761 bytes is over the limit of 10,485,760 bytes.')).toBeInViewport();
  await expect(uploads.getByText('Files of the type text/csv are not accepted.')).toBeVisible();
  // The server checks the type if the user sends the file again.
  await uploads.getByRole('button', { name: 'Send again sheet.csv' }).click();
  await expect(uploads.getByText(/The mime type of the file is invalid/)).toBeVisible();
  await expect(page.getByRole('link', { name: /boat-10\.png/ })).toBeVisible();
  await expectAccessible(page);
});

test('filters files, keeps the filters in the address, and pastes an image', async ({ page }) => {
  await openLibrary(page);
  await page.getByRole('searchbox', { name: /Search by name/ }).fill('mil da');
  await expect(page.getByRole('link', { name: /mill-at-dawn/ })).toBeVisible();
  await expect(page.getByText('1 found')).toBeVisible();
  await expect(page).toHaveURL(/q=mil\+da/);
  await page.reload();
  await expect(page.getByText('1 found')).toBeVisible();
  await page.getByRole('button', { name: 'Remove filters' }).first().click();
  await pasteImage(page.locator('body'));
  await expect(page.getByText('1 file uploaded.')).toBeVisible();
  await page.getByRole('button', { name: 'No alt text' }).click();
  await expect(page.getByRole('link', { name: /pasted\.png/ })).toBeVisible();
  await expect(page.getByText('1 found')).toBeVisible();
  await page.getByRole('button', { name: 'Unused' }).click();
  await expect(page.getByText('1 of the 1 files on this page are not used.')).toBeVisible();
  await page.getByRole('button', { name: 'List' }).click();
  await expectAccessible(page);
});

test('counts the address of a file in any text as a use', async ({ page, server }) => {
  const upload = async (name: string): Promise<{ url: string }> => {
    const body = new FormData();
    body.append('type', 'file');
    body.append('file', new Blob([`contents of ${name}`], { type: 'text/plain' }), name);
    const headers = { 'X-AUTH-TOKEN': ADMIN_KEY };
    return (await fetch(`${server.url}/api/media`, { method: 'POST', headers, body })).json();
  };
  await upload('lonely.txt');
  const { url } = await upload('linked.txt');
  const inRichText = await upload('in-rich-text.txt');
  const inList = await upload('in-list.txt');
  const block = { id: 'a', type: 'image', data: { url, caption: '' } };
  const content = { time: 1, version: '2', blocks: [block] };
  await server.request('PATCH', '/api/v1/content/post/the-ten-oclock-boat', { content });
  const definition = typeDefinition('page', 'Pages', {
    title: { inputType: 'text' },
    body: { inputType: 'richtext' },
    list: { inputType: 'simpleList' },
  });
  await createType(server, definition);
  const body = `<p><a href="${inRichText.url}">file</a></p>`;
  const texts = { id: 'texts', title: 'Texts', body, list: ['', inList.url] };
  await server.send('POST', '/api/v1/content/page', texts);
  await open(page, 'media?unused=1&kind=file');
  await expect(page.getByText('1 of the 4 files on this page are not used.')).toBeVisible();
  await expect(page.getByRole('link', { name: /lonely\.txt/ })).toBeVisible();
  await expect(page.getByText(/Only the files of this page are checked/)).toBeVisible();
});

test('crops an image by keyboard and by numbers, and sets its focal point', async ({ page, server }) => {
  await openLibrary(page);
  await page.getByRole('link', { name: /mill-at-dawn/ }).click();
  await page.getByRole('button', { name: /^▸? ?square/ }).click();
  const box = page.getByRole('group', { name: /Crop: arrow keys/ });
  await box.focus();
  await box.press('ArrowRight');
  await page.getByRole('group', { name: 'Variants' }).getByLabel('Height').fill('200');
  await page.getByRole('group', { name: 'Variants' }).getByLabel('Height').press('Tab');
  await page
    .getByRole('group', { name: 'Focal point', exact: true })
    .getByLabel(/From the left/)
    .fill('25');
  await page.keyboard.press('Tab');
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  const found = await server.request(
    'GET',
    '/api/v1/content/_media/_media-37bd5a46-505c-4867-be29-ba7de75bcddb?fields[]=variants&fields[]=focalPoint',
  );
  expect(await found.json()).toMatchObject({
    variants: [{ name: 'square', trim: { top: 20, left: 70, width: 280, height: 200 } }],
    focalPoint: { x: 0.25, y: 0.5 },
  });
});

test('chooses several files by keyboard in their order', async ({ page }) => {
  await open(page, 'c/product/slow-kettle');
  await page.getByRole('button', { name: 'Choose… Pictures' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose files' });
  const search = dialog.getByRole('searchbox');
  await expect(search).toBeFocused();
  await expect(dialog.getByRole('listbox').getByRole('option').first()).toBeVisible();
  await expectAccessible(page);
  await search.fill('mill');
  await expect(dialog.getByRole('option', { name: /mill-at-dawn/ })).toBeVisible();
  await search.press('ArrowDown');
  await page.keyboard.press('Space');
  // What is selected stays selected while something else is searched.
  await search.fill('kettle');
  await expect(dialog.getByRole('option', { name: /pouring-kettle/ })).toBeVisible();
  await search.fill('');
  await expect(dialog.getByRole('button', { name: 'Remove mill-at-dawn.png' })).toBeVisible();
  await search.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  const pictures = page.getByRole('group', { name: 'Pictures', exact: true });
  await expect(pictures.getByRole('listitem')).toHaveCount(3);
  await expect(pictures.getByRole('listitem').nth(1)).toContainText('mill-at-dawn.png');
  // A double click takes its file and those that are selected.
  await page.getByRole('button', { name: 'Choose… Pictures' }).click();
  await dialog.getByRole('option', { name: /pouring-kettle/ }).click();
  await dialog.getByRole('option', { name: /night-ferry/ }).dblclick();
  await expect(dialog).toBeHidden();
  await expect(pictures).toContainText('night-ferry.jpg');
  const before = await pictures.getByRole('listitem').count();
  // Pasted into the field, a file is uploaded and added in place; its alt text is written beside it.
  await pasteImage(page.locator('[data-path=pictures] .media'));
  await expect(pictures.getByRole('listitem')).toHaveCount(before + 1);
  const alt = pictures.getByRole('textbox', { name: 'Alt text pasted.png' });
  await alt.fill('A grey square');
  await alt.press('Tab');
  await expect(pictures.getByText('Alt text saved.')).toBeVisible();
  await expectAccessible(page);
});

test('pastes text into the alternative text, although the clipboard has an image of it', async ({ page }) => {
  await open(page, 'c/author/maren');
  // As a spreadsheet copies a cell.
  const pastes = (text: string) =>
    page.getByLabel(/^Alt text/).evaluate((input, plain) => {
      const data = new DataTransfer();
      if (plain) data.setData('text/plain', plain);
      data.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
      const init = { clipboardData: data, bubbles: true, cancelable: true };
      return input.dispatchEvent(new ClipboardEvent('paste', init));
    }, text);
  expect(await pastes('A cell')).toBe(true);
  await expect(page.getByText('image.png')).toHaveCount(0);
  // Without a text, the image is pasted.
  expect(await pastes('')).toBe(false);
});

test('offers an alternative text again that was not saved before its form was left', async ({ page }) => {
  await open(page, 'c/author/maren');
  const alt = page.getByLabel(/^Alt text/);
  await expect(alt).toBeVisible();
  await page.route('**/api/v1/content/_media/**', (route) =>
    route.fulfill({ status: 500, json: { code: 500, message: 'Internal Server Error' } }),
  );
  await alt.fill('Maren at the mill');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('link', { name: 'Home' }).click();
  const notice = page.getByText(/^The alt text of .+ is not saved\. Internal Server Error/);
  await expect(notice).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/api/v1/content/_media/**');
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.getByRole('button', { name: 'Try again' }).click();
  expect((await saved).status()).toBe(200);
  await page.goBack();
  await expect(alt).toHaveValue('Maren at the mill');
  await expect(notice).toBeHidden();
});
