// Finding the object to link to.
import { expect, expectAccessible, open, test } from '../support';
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
