import { createSheetType, send } from '../exact';
import { expect, expectAccessible, open, test } from '../support';

test('deletes, undoes, and restores from the trash under another id', async ({ page, server }) => {
  await open(page, 'c/product');
  await page.getByLabel('Select Roasting day ear muffs').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 1 object' }).click();
  await expect(page.getByText('1 object deleted.')).toBeVisible();
  await expect(page.getByRole('rowheader')).toHaveCount(13);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('rowheader')).toHaveCount(14);

  await server.request('DELETE', '/api/v1/content/product/ear-muffs');
  const other = { id: 'ear-muffs', name: 'Other muffs', kind: 'tool', price: 3 };
  await server.send('POST', '/api/v1/content/product', other);
  await page.getByRole('link', { name: 'Trash' }).click();
  await expect(page.getByText('The id is in use again.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Restore: Roasting day ear muffs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Id').fill('old ear/muffs');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(dialog.getByText('The id contains a character that is not allowed.')).toBeVisible();
  await expect(dialog.getByText(/regex/)).toHaveCount(0);
  await expectAccessible(page);
  await dialog.getByLabel('Id').fill('old-ear-muffs');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('Restored.')).toBeVisible();
  expect((await server.request('GET', '/api/v1/content/product/old-ear-muffs')).status).toBe(200);
});

test('corrects a value that prevents restoring', async ({ page, server }) => {
  await server.request('DELETE', '/api/v1/content/product/ear-muffs');
  const other = { id: 'other', name: 'Roasting day ear muffs', kind: 'tool', price: 3 };
  await server.send('POST', '/api/v1/content/product', other);
  await open(page, 'trash');
  await page.getByRole('button', { name: 'Restore: Roasting day ear muffs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await dialog.getByLabel(/^Name/).fill('Old ear muffs');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  const slug = dialog.getByLabel(/^Slug/);
  if (await slug.isVisible()) {
    await slug.fill('old-ear-muffs');
    await dialog.getByRole('button', { name: 'Restore' }).click();
  }
  await expect(page.getByText('Restored.')).toBeVisible();
});

test('leaves values alone that are not corrected, and leaves out properties that the type has lost', async ({
  page,
  server,
}) => {
  await createSheetType(server);
  const typePath = '/api/v1/internal/contenttype/sheet';
  const type = await server.send('GET', typePath);
  type.metaDefinition.propertiesConfig.title.unique = true;
  const properties = type.schemaDefinition.allOf[1].properties;
  await send(server, 'POST', 'sheet', '{"id":"one","title":"One","count":9007199254740993,"extra":{"n":1}}');
  await server.send('DELETE', '/api/v1/content/sheet/one');
  await send(server, 'POST', 'sheet', '{"id":"two","title":"One"}');
  delete properties.extra;
  delete type.metaDefinition.propertiesConfig.extra;
  type.metaDefinition.order = ['title', 'count'];
  await server.send('PUT', typePath, type);
  await open(page, 'trash');
  await page.getByRole('button', { name: 'Restore: One' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Title/).fill('First');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('Restored.')).toBeVisible();
  const restored = await send(server, 'GET', 'sheet/one', '');
  expect(restored).toContain('"title":"First","count":9007199254740993');
  expect(restored).not.toContain('extra');
});

test('shows a deleted object, and empties the trash after the number was typed', async ({ page, server }) => {
  await server.request('DELETE', '/api/v1/content/product/ear-muffs');
  await open(page, 'trash');
  await page.getByRole('button', { name: 'Roasting day ear muffs', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel(/^Name/)).toHaveValue('Roasting day ear muffs');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Empty the trash…' }).click();
  const empty = page.getByRole('dialog').getByRole('button', { name: 'Empty the trash…' });
  await expect(empty).toBeDisabled();
  await page.getByLabel('Enter the number 1 to confirm').fill('1');
  await empty.click();
  await expect(page.getByText('The trash is empty.')).toBeVisible();
});

test('asks for the number of all objects that it removes, not of those that a filter shows', async ({
  page,
  server,
}) => {
  for (const name of ['Lost muffs', 'Lost kettle', 'Lost grinder']) {
    const product = { name, kind: 'tool', price: 3 };
    const created = await server.request('POST', '/api/v1/content/product', product);
    const { id } = (await created.json()) as { id: string };
    await server.send('DELETE', `/api/v1/content/product/${id}`);
  }
  await open(page, 'trash?q=kettle');
  await expect(page.getByRole('button', { name: 'Lost kettle', exact: true })).toHaveCount(1);
  await page.getByRole('button', { name: 'Empty the trash…' }).click();
  await page.getByLabel('Enter the number 3 to confirm').fill('3');
  await expectAccessible(page);
});
