// Links from texts to objects.
import { expect, expectAccessible, open, test } from '../support';
import { focusText, save, text, tool } from '../texts';
import { changeType } from '../types';

test('links a rich text to an object at its address for readers', async ({ page, server }) => {
  const previewUrl = 'https://www.example.com/journal/{slug}?token={token}';
  await changeType(server, 'post', ({ metaDefinition }) => (metaDefinition.admin = { previewUrl }));
  await open(page, 'c/product/tidewater');
  await focusText(text(page, 'Description'));
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(' See ');
  await page.keyboard.press('ControlOrMeta+Shift+k');
  const dialog = page.getByRole('dialog', { name: 'Link' });
  await dialog.getByRole('combobox', { name: 'Object of this site' }).fill('ten cloc');
  await page.getByRole('option', { name: /The ten o’clock boat/ }).click();
  await expect(dialog.getByLabel('Address')).toHaveValue(
    'https://www.example.com/journal/the-ten-o-clock-boat',
  );
  await expect(dialog.getByLabel('Text of the link')).toHaveValue('The ten o’clock boat');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await save(page);
  expect((await server.stored('product/tidewater')).description).toContain(
    '<a href="https://www.example.com/journal/the-ten-o-clock-boat">The ten o’clock boat</a>',
  );
});

test('links blocks and Markdown to objects that have no address', async ({ page, server, pageOrigin }) => {
  await open(page, 'c/post/the-ten-oclock-boat');
  await focusText(text(page, 'Content').locator('p').first());
  await page.keyboard.press('End');
  await page.keyboard.press('ControlOrMeta+Shift+k');
  const finder = page.getByRole('dialog').getByRole('combobox', { name: 'Object of this site' });
  await finder.fill('tidewat');
  await page
    .getByRole('option', { name: /Tidewater/ })
    .first()
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await save(page);
  expect(JSON.stringify((await server.stored('post/the-ten-oclock-boat')).content)).toContain(
    '/api/v1/content/product/tidewater',
  );
  // At the link, the object opens beside the form.
  await text(page, 'Content').getByRole('link', { name: 'Tidewater' }).click();
  await page.getByRole('button', { name: 'Open link' }).click();
  await expect(page.getByRole('dialog').getByRole('textbox', { name: /^Name/ })).toHaveValue('Tidewater');
  await page.keyboard.press('Escape');

  await open(page, 'c/place/port-sable');
  await focusText(text(page, 'Story'));
  await tool(page, 'Link').click();
  await finder.fill(`${pageOrigin}/admin/c/author/maren?panel=used`);
  await expect(page.getByRole('dialog').getByLabel('Address')).toHaveValue('/api/v1/content/author/maren');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await save(page);
  expect((await server.stored('place/port-sable')).story).toContain(
    '[Maren Holloway](/api/v1/content/author/maren)',
  );
});
