import type { Page } from '@playwright/test';
import { holdUploads, png } from '../media';
import { expect, expectAccessible, open, test } from '../support';
import { createType, typeDefinition } from '../types';

/** Dismisses the dialogs of the browser, and returns their messages. */
function dismissDialogs(page: Page): string[] {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  return asked;
}

test('asks before a form with a running upload is left, and saves only with the file', async ({ page }) => {
  const release = await holdUploads(page);
  const asked = dismissDialogs(page);
  await open(page, 'c/product/slow-kettle');
  const pictures = page.getByRole('group', { name: 'Pictures', exact: true });
  await page.locator('[data-path=pictures] input[type=file]').setInputFiles([png('slow.png')]);
  await expect(pictures.getByText('Uploading: 0 of 1 done')).toBeVisible();
  await expect(page.getByText(/You can save and publish when all uploads/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Media' }).click();
  await expect(page).toHaveURL(/slow-kettle/);
  expect(asked).toEqual([expect.stringContaining('they are not added to this object')]);
  release();
  await expect(page.getByText(/You can save and publish when all uploads/)).toBeHidden();
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  await expect(pictures).toContainText('slow.png');
});

test('publishes an object only with the file that is being uploaded', async ({ page, server }) => {
  const properties = {
    title: { inputType: 'text' },
    picture: { inputType: 'datasource', relationContenttype: '_media' },
  };
  const type = typeDefinition('note', 'Note', properties, { draftPublic: true });
  await createType(server, type);
  const note = { id: 'first', title: 'First note' };
  await server.send('POST', '/api/v1/content/note', note);
  const release = await holdUploads(page);
  await open(page, 'c/note/first');
  await page.locator('[data-path=picture] input[type=file]').setInputFiles([png('slow.png')]);
  await expect(page.getByText('Uploading: 0 of 1 done')).toBeVisible();
  await page.keyboard.press('Control+Shift+P');
  const dialog = page.getByRole('dialog');
  const publish = dialog.getByRole('button', { name: /^(Publish|Save and publish)$/ });
  await expect(dialog.getByText(/Files are still being uploaded/)).toBeVisible();
  await expect(publish).toBeDisabled();
  await expectAccessible(page);
  release();
  await publish.click();
  await expect(page.getByText('Published.')).toBeVisible();
  const found = await server.request('GET', '/api/v1/content/note/first');
  expect(await found.json()).toMatchObject({ picture: [{ dataUrl: expect.stringContaining('_media') }] });
});

test('asks before the media library with running uploads is left', async ({ page }) => {
  const release = await holdUploads(page);
  const asked = dismissDialogs(page);
  await open(page, 'media');
  const wrong = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no image') };
  await page.locator('input[type=file]').setInputFiles([png('a.png'), wrong]);
  await expect(page.getByText('Uploading: 0 of 2 done')).toBeVisible();
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Home' }).click();
  await expect(page).toHaveURL(/media/);
  expect(asked).toEqual([expect.stringContaining('which of them are refused')]);
  release();
  await expect(page.getByText('1 file was refused.')).toBeVisible();
});
