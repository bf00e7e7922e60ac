// The requests behind a screen.
import { expect, expectAccessible, signIn, test } from '../support';

test('shows the requests of a screen as commands, and opens one in the console', async ({ page, home }) => {
  await signIn(page);
  await page.goto(`${home}/admin/c/product?order=-price`);
  await expect(page.getByRole('table').getByRole('rowheader')).toHaveCount(14);
  await page.getByRole('button', { name: 'ada', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Requests of this screen' }).click();
  await expect(page).toHaveURL(/panel=request/);
  const sheet = page.getByRole('dialog', { name: 'Requests of this screen' });
  const list = sheet.getByRole('listitem').filter({ hasText: '/api/v1/content/product?' });
  await expect(list).toContainText(/Status 200,\s+\d+ ms/);
  await list.getByText('GET', { exact: true }).click();
  await expect(list.getByLabel('curl')).toHaveValue(/^curl 'http:\/\/.*order_by=price.*X-AUTH-TOKEN: KEY/);
  await expect(list.getByLabel('cms')).toHaveValue(
    /^cms object list product .*--order-by price .*--desc .*--preview/,
  );
  await expect(list.getByLabel('fetch')).toHaveValue(/^await fetch\(/);
  await expectAccessible(page);
  await page.screenshot({ path: 'test/results/requests.png' });
  await list.getByRole('link', { name: 'Open in the API console' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'API' })).toBeVisible();
  await expect(page.getByLabel('order_by', { exact: true })).toHaveValue('price');
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
});

test('hands the body of a save over to the console, and shows no password', async ({ page, home }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await signIn(page);
  await page.goto(`${home}/admin/c/author/maren`);
  await page.getByLabel('Role').selectOption('buyer');
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText(/Saved as version/).first()).toBeVisible();
  await page.getByRole('button', { name: 'ada', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Requests of this screen' }).click();
  const sheet = page.getByRole('dialog', { name: 'Requests of this screen' });
  const saved = sheet.getByRole('listitem').filter({ hasText: /PUT.*\/author\/maren(?!\/)/ });
  await saved.getByText('PUT', { exact: true }).click();
  await expect(saved.getByLabel('curl')).toHaveValue(/-X PUT .*"role":"buyer"/);
  await expectAccessible(page);
  await page.screenshot({ path: 'test/results/requests-phone.png' });
  await saved.getByRole('link', { name: 'Open in the API console' }).click();
  await expect(page.getByRole('textbox', { name: 'Body' })).toContainText('"role": "buyer"');

  await page.goto(`${home}/admin/me?panel=request`);
  await expect(sheet.getByText(/What this screen has sent/)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  await expect(page).not.toHaveURL(/panel/);
});
