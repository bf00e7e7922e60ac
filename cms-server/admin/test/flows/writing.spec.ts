// Writing: nothing typed is lost, nobody is overwritten.
import { createSession, expect, expectAccessible, test } from '../support';
import { openForm, saveButton } from '../writing';

const KETTLE = 'c/product/slow-kettle';

test('creates an object: refused, corrected, saved', async ({ page, server }) => {
  await openForm(page, 'c/author/+new');
  await page.getByLabel('Name').fill('Tove');
  await saveButton(page).click();
  const summary = page.getByRole('alert').filter({ hasText: 'validation error' });
  await expect(summary).toContainText('Role');
  await expect(page.getByRole('combobox', { name: /Role/ })).toBeFocused();
  await expectAccessible(page);
  await page.getByRole('combobox', { name: /Role/ }).selectOption('writer');
  // The error disappears as soon as the user pauses.
  await expect(summary).toBeHidden();
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 1.')).toBeVisible();
  await expect(page).toHaveURL(/\/c\/author\/[0-9a-f-]{36}$/);
  await page.getByLabel('Name').fill('Tove Lind');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  const list = await server.request('GET', '/api/v1/content/author?limit=100&fields[]=name');
  expect((await list.text()).match(/Tove/g)).toEqual(['Tove']);
  const copies = await server.request('GET', '/api/v1/working-copies');
  expect(await copies.json()).toMatchObject({ total_count: 0 });
});

test('keeps typed text when the process of the tab crashes', async ({ page, context }) => {
  await openForm(page, KETTLE);
  // Only this browser has the text: nothing reaches the server.
  await page.route('**/working-copy', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await page.getByLabel('Name').fill('Slower kettle');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  const address = page.url();
  const devTools = await context.newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  void devTools.send('Page.crash').catch(() => undefined);
  await crashed;
  const other = await context.newPage();
  await other.goto(address);
  await expect(other.getByText(/Your changes from .*, not saved yet/)).toBeVisible();
  await expect(other.getByLabel('Name')).toHaveValue('Slower kettle');
  await other.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(other.getByRole('dialog')).toContainText('Name');
  await expectAccessible(other);
  await other.getByRole('button', { name: 'Close' }).click();
  await saveButton(other).click();
  await expect(other.getByText('Saved as version 2.')).toBeVisible();
  await other.reload();
  await expect(other.getByText(/No changes/)).toBeVisible();
  await expect(other.getByText(/not saved yet/)).toBeHidden();
});

test('creates an object once when the page is closed before the response', async ({
  page,
  context,
  server,
}) => {
  await openForm(page, 'c/author/+new');
  await page.getByLabel('Name').fill('Tove');
  await page.getByRole('combobox', { name: /Role/ }).selectOption('writer');
  await expect(page.getByText(/changes?, stored/)).toBeVisible();
  let isCreated = false;
  await page.route('**/api/v1/content/author', async (route) => {
    // The response never arrives.
    isCreated = (await route.fetch()).ok();
  });
  await page.keyboard.press('Control+s');
  await expect.poll(() => isCreated).toBe(true);
  await page.close();
  const other = await context.newPage();
  await openForm(other, 'c/author/+new');
  await expect(other.getByLabel('Name')).toHaveValue('Tove');
  await other.getByLabel('Name').fill('Tove Lind');
  await saveButton(other).click();
  await expect(other.getByText('Saved as version 2.')).toBeVisible();
  const list = await server.request('GET', '/api/v1/content/author?limit=100&fields[]=name');
  expect((await list.text()).match(/Tove[^"]*/g)).toEqual(['Tove Lind']);
});

test('brings unsaved work to another browser, and discards it on request', async ({ page, browser }) => {
  await openForm(page, KETTLE);
  const sent = page.waitForResponse((response) => response.url().endsWith('/working-copy') && response.ok());
  await page.getByLabel('Name').fill('Half-written');
  await page.getByLabel('Slug').focus();
  await sent;
  const context = await browser.newContext({ locale: 'en-GB' });
  const other = await context.newPage();
  await createSession(other);
  await openForm(other, KETTLE);
  await expect(other.getByLabel('Name')).toHaveValue('Half-written');
  await other.getByRole('button', { name: 'Discard…' }).first().click();
  await other.getByRole('button', { name: 'Discard changes' }).click();
  await expect(other.getByLabel('Name')).toHaveValue('Slow kettle');
  await expect(other.getByText(/not saved yet/)).toBeHidden();
  await context.close();
});

test('continues an unsaved new object', async ({ page }) => {
  await openForm(page, 'c/place/+new');
  await page.getByLabel('Name').fill('Lighthouse');
  await expect(page.getByText(/stored/)).toBeVisible();
  await openForm(page, 'c/place/+new');
  await expect(page.getByLabel('Name')).toHaveValue('Lighthouse');
  await page.getByRole('button', { name: 'Start another' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('');
});

test('offers to load the page again when the code of a control did not arrive', async ({ page }) => {
  // Refuses the code until the page offers to load again: some browsers request it more than once.
  let isRefused = true;
  await page.route('**/assets/Relation-*.js', (route) => (isRefused ? route.abort() : route.continue()));
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Kettle without its maker');
  await expect(page.getByText(/stored/)).toBeVisible();
  const loadAgain = page.getByRole('button', { name: 'Load again' });
  await expect(loadAgain).toBeVisible();
  isRefused = false;
  await loadAgain.click();
  await expect(page.getByRole('combobox', { name: 'Maker: search' })).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Kettle without its maker');
});

test('saves after a crash of the server, without another click', async ({ page, server }) => {
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Kettle of the storm');
  await server.stop('SIGKILL');
  await saveButton(page).click();
  await expect(page.getByText('Not saved yet.')).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel('Slug').fill('typed-meanwhile');
  await server.start();
  // The page may already have retried automatically.
  const tryNow = page.getByRole('button', { name: 'Try now' });
  await tryNow.click({ timeout: 1000 }).catch(() => undefined);
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expect(page.getByLabel('Slug')).toHaveValue('typed-meanwhile');
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Kettle of the storm',
    slug: 'slow-kettle',
  });
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 3.')).toBeVisible();
});

test('keeps writing offline, and saves when the network is back', async ({ page, context, server }) => {
  await openForm(page, KETTLE);
  await context.setOffline(true);
  await expect(page.getByText('You are offline.')).toBeVisible();
  await page.getByLabel('Name').fill('Offline kettle');
  await saveButton(page).click();
  await expect(page.getByText('Not saved yet.')).toBeVisible();
  await expectAccessible(page);
  await context.setOffline(false);
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expect(page.getByText('You are offline.')).toBeHidden();
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Offline kettle' });
});

test('keeps typed text when the session expires', async ({ page, context, server }) => {
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Written over the end of a session');
  await context.clearCookies();
  // Another request of the page may have opened the dialog before.
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await expect(dialog.getByLabel('E-mail')).toHaveValue('ada@example.com');
  await dialog.getByLabel('Password', { exact: true }).fill('correct-horse-battery');
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Written over the end of a session');
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Written over the end of a session',
  });
});
