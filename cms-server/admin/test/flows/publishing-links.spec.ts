// Publishing an object with very many links: the check of their targets is bounded, and says so.
import { expect, expectAccessible, test } from '../support';
import { createType, typeDefinition } from '../types';
import { openForm } from '../writing';

const LINKS = 1100;

test('checks the first thousand linked objects, and says that others were not checked', async ({
  page,
  server,
}) => {
  const draft = { draftPublic: true };
  const many = { inputType: 'datasource', relationContenttype: 'item', many: true };
  const types = [
    typeDefinition('item', 'Item', { title: { inputType: 'text' } }, draft),
    typeDefinition('bundle', 'Bundle', { title: { inputType: 'text' }, links: many }, draft),
  ];
  for (const type of types) {
    await createType(server, type);
  }
  const ids = Array.from({ length: LINKS }, (_, index) => `item-${String(index)}`);
  for (const part of [ids.slice(0, 1000), ids.slice(1000)]) {
    const items = part.map((id) => ({ id, title: id }));
    await server.send('POST', '/api/v1/content/item/batch', items);
  }
  const links = ids.map((id) => ({ type: 'internal', dataUrl: `/api/v1/content/item/${id}` }));
  const bundle = { id: 'all', title: 'All of them', links };
  await server.send('POST', '/api/v1/content/bundle', bundle);
  await openForm(page, 'c/bundle/all');
  await expect(
    page.getByRole('group', { name: 'Links' }).getByText('item-49', { exact: true }),
  ).toBeVisible();
  let requests = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/v1/content/item') requests += 1;
  });
  await page.getByRole('complementary').getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish All of them?' });
  await expect(dialog.getByText('Only the first 1,000 of 1,100 linked objects were checked')).toBeVisible();
  await expect(dialog.getByText('1000 linked objects are not public')).toBeVisible();
  await expect(dialog.getByRole('listitem')).toHaveCount(20);
  await expect(dialog.getByText('and 980 more.')).toBeVisible();
  expect(requests).toBe(10);
  await expectAccessible(page);
});
