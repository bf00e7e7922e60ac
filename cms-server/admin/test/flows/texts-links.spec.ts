// Links from texts to objects.
import { createSession, expect, expectAccessible, test } from '../support';
import type { Server } from '../server';
import { focusText, open, save, stored, text, tool } from '../texts';

/** Sets the preview URL of posts, which also defines their address for readers. */
async function setPreviewUrl(server: Server, previewUrl: string): Promise<void> {
  const path = '/api/v1/internal/contenttype/post';
  const definition = (await (await server.request('GET', path)).json()) as {
    metaDefinition: Record<string, unknown>;
  };
  const metaDefinition = { ...definition.metaDefinition, admin: { previewUrl } };
  const response = await server.request('PUT', path, { ...definition, metaDefinition });
  expect(response.status, await response.clone().text()).toBe(200);
}

test('links a rich text to an object at its address for readers', async ({ page, server }) => {
  await setPreviewUrl(server, 'https://www.example.com/journal/{slug}?token={token}');
  await createSession(page);
  await open(page, 'product', 'tidewater');
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
  expect((await stored(server, 'product', 'tidewater')).description).toContain(
    '<a href="https://www.example.com/journal/the-ten-o-clock-boat">The ten o’clock boat</a>',
  );
});

test('links blocks and Markdown to objects that have no address', async ({ page, server, pageOrigin }) => {
  await createSession(page);
  await open(page, 'post', 'the-ten-oclock-boat');
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
  expect(JSON.stringify((await stored(server, 'post', 'the-ten-oclock-boat')).content)).toContain(
    '/api/v1/content/product/tidewater',
  );
  // At the link, the object opens beside the form.
  await text(page, 'Content').getByRole('link', { name: 'Tidewater' }).click();
  await page.getByRole('button', { name: 'Open link' }).click();
  await expect(page.getByRole('dialog').getByRole('textbox', { name: /^Name/ })).toHaveValue('Tidewater');
  await page.keyboard.press('Escape');

  await open(page, 'place', 'port-sable');
  await focusText(text(page, 'Story'));
  await tool(page, 'Link').click();
  await finder.fill(`${pageOrigin}/admin/c/author/maren?panel=used`);
  await expect(page.getByRole('dialog').getByLabel('Address')).toHaveValue('/api/v1/content/author/maren');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await save(page);
  expect((await stored(server, 'place', 'port-sable')).story).toContain(
    '[Maren Holloway](/api/v1/content/author/maren)',
  );
});
