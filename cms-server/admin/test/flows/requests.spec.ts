// The requests behind a screen.
import { addManaged, openScreen, SCREENS } from '../screens';
import { expect, expectAccessible, open, test } from '../support';
import { enableDraftPublic } from '../types';

test('shows the requests of a screen as commands, and opens one in the console', async ({ page }) => {
  await open(page, 'c/product?order=-price');
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
  await list.getByRole('link', { name: 'Open in the API console' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'API' })).toBeVisible();
  await expect(page.getByLabel('order_by', { exact: true })).toHaveValue('price');
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
});

test('hands the body of a save over to the console, and closes by Escape', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, 'c/author/maren');
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
  await saved.getByRole('link', { name: 'Open in the API console' }).click();
  await expect(page.getByRole('textbox', { name: 'Body' })).toContainText('"role": "buyer"');

  await page.goto('/admin/me?panel=request');
  await expect(sheet.getByText(/The requests that this screen has sent/)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  await expect(page).not.toHaveURL(/panel/);
});

test('shows the requests of every screen, and opens the console with one of them', async ({
  page,
  server,
}) => {
  test.slow();
  await addManaged(server);
  const sheet = page.getByRole('dialog', { name: 'Requests of this screen' });
  for (const path of [...SCREENS, 'types/+plan', 'types/+new'].filter(
    (one) => one !== 'api' && !one.includes('panel='),
  )) {
    const address = `${path}${path.includes('?') ? '&' : '?'}panel=request`;
    // An empty plan and a new type have no requests but those of the frame, which are sent when the page is loaded.
    if (path.startsWith('types/+')) await page.goto(`/admin/${address}`);
    else await openScreen(page, address);
    await expect(sheet.getByRole('listitem').filter({ hasText: 'Status 200' }).first(), path).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(sheet).toBeHidden();
    const link = page
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: 'API', exact: true });
    await expect(link, path).toHaveAttribute('href', /[?&]op=/);
  }
});

test('sends requests without drafts, and shows commands for a query', async ({ page, server }) => {
  await enableDraftPublic(server, 'post');
  await server.request('POST', '/api/v1/content/post/the-ten-oclock-boat/unpublish');
  await open(page, 'api?op=content_list&path.contentType=post&query.limit=1');
  await page.getByRole('button', { name: 'Send GET' }).click();
  const response = page.getByRole('region', { name: 'Response' }).last();
  await expect(response).toContainText('"total_count": 16');
  await expect(page.getByLabel('curl')).toHaveValue(/X-MODE: preview/);
  await page.getByLabel('Include drafts').uncheck();
  await expect(page.getByLabel('curl')).not.toHaveValue(/X-MODE/);
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(response).toContainText('"total_count": 15');
  await expectAccessible(page);

  await page.getByRole('tab', { name: 'GraphQL' }).click();
  const editor = page.getByRole('textbox', { name: 'Query' });
  await editor.fill('{ product(first: 1) { totalCount } }');
  await expect(page.getByLabel('cms').last()).toHaveValue(
    /^printf %s '\{ product.* \| cms graphql query - --v2 --server http/,
  );
  await page.getByRole('button', { name: 'Run query' }).click();
  await expect(page.getByRole('region', { name: 'Response' }).last()).toContainText('"totalCount": 14');
  // The typed query is still there after a visit to another screen.
  await page.getByRole('link', { name: 'Home' }).first().click();
  await page.goBack();
  await expect(editor).toContainText('product(first: 1)');
  await page.getByRole('button', { name: 'Use the example' }).click();
  await expect(editor).not.toContainText('product(first: 1) {');
});
