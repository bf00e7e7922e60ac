import { expect, expectAccessible, signIn, test } from '../support';

test('signs in, opens an object, changes and saves it', async ({ page, server }) => {
  await page.goto('/admin');
  await expectAccessible(page);
  await signIn(page);
  await expectAccessible(page);
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Product' }).click();
  await page
    .getByRole('link', { name: 'Spring tide' })
    .or(page.getByRole('row').nth(1).getByRole('link'))
    .first()
    .click();
  const name = page.getByLabel('Name');
  const title = await name.inputValue();
  await name.fill(`${title}, again`);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expectAccessible(page);
  const stored = await server.request('GET', '/api/v1/content/product?limit=100&fields[]=name');
  expect(await stored.text()).toContain(`${title}, again`);
});
