// Finding the object to link to.
import { expect, expectAccessible, open, test } from '../support';
import { createType, typeDefinition } from '../types';
import { openForm } from '../writing';

test('says in which property the words were found', async ({ page, server }) => {
  const found = await server.request('GET', '/api/v1/content/event?limit=1&fields[]=id');
  const { data } = (await found.json()) as { data: { id: string }[] };
  await openForm(page, `c/event/${data[0]?.id ?? ''}`);
  const search = page.getByRole('combobox', { name: 'Hosts: search' });
  await search.fill('wheel');
  const option = page.getByRole('option', { name: /Maren Holloway/ });
  await expect(option).toContainText('Bio: …');
  await expect(option).toContainText('came back for the wheel.');
  await expect(option.locator('mark')).toHaveText('wheel');
  await expect(option).toContainText('Author');
  await expectAccessible(page);
  // Words of the title need no explanation.
  await search.fill('holl');
  await expect(option).toBeVisible();
  await expect(option.locator('mark')).toHaveCount(0);
});

test('finds an object by its complete title in a type with many properties', async ({ page, server }) => {
  const names = ['title', ...Array.from({ length: 12 }, (_, index) => `text${String(index)}`)];
  const properties = Object.fromEntries(names.map((name) => [name, { inputType: 'text' }]));
  await createType(server, typeDefinition('card', 'Card', properties));
  const card = { inputType: 'datasource', relationContenttype: 'card' };
  await createType(server, typeDefinition('holder', 'Holder', { card }));
  const title = 'How the ten o clock boat came to the mill and back';
  await server.send('POST', '/api/v1/content/card', { title });
  await openForm(page, 'c/holder/+new');
  await page.getByRole('combobox', { name: 'Card: search' }).fill(title);
  await expect(page.getByRole('option', { name: /^How the ten/ })).toBeVisible();
});

test('closes an open sheet with its screen', async ({ page }) => {
  await open(page, 'c/event');
  await page.getByRole('link', { name: /New/ }).first().click();
  const search = page.getByRole('combobox', { name: /Hosts/ });
  await search.fill('Greta Nord');
  await page.getByRole('option', { name: /New: Author “Greta Nord”/ }).click();
  const sheet = page.getByRole('dialog', { name: /Greta Nord/ });
  await expect(sheet).toBeVisible();
  await page.goBack();
  await expect(sheet).toBeHidden();
  await expect(page.getByRole('heading', { level: 1, name: 'Event' })).toBeVisible();
});
