// Whatever the server responds to a save: the text stays, and the page says what happens next.
import { expect, expectAccessible, test } from '../support';
import { openForm, paste, saveButton, withoutLiveUpdates, withoutWorkingCopies } from '../writing';

const PRODUCT = 'c/product/slow-kettle';
const PATH = '/api/v1/content/product/slow-kettle';

const TRANSIENT = [
  {
    status: 429,
    message: 'Too Many Requests',
    headers: { 'Retry-After': '20' },
    words: /Next attempt in (19|20) /,
  },
  { status: 500, message: 'Internal Server Error', headers: {}, words: /Next attempt in [12] second/ },
  {
    status: 503,
    message: 'Service Unavailable',
    headers: { 'Retry-After': '9' },
    words: /Next attempt in [789] /,
  },
  { status: 507, message: 'Insufficient Storage', headers: {}, words: /Next attempt in [12] second/ },
];

test('repeats a save that the server could not carry out, and says why', async ({ page, server }) => {
  await openForm(page, PRODUCT);
  for (const [index, { status, message, headers, words }] of TRANSIENT.entries()) {
    let fails = true;
    await page.route(`**${PATH}`, (route) =>
      fails && route.request().method() === 'PUT'
        ? route.fulfill({ status, headers, json: { code: status, message } })
        : route.continue(),
    );
    const name = `Kettle after ${String(status)}`;
    await page.getByLabel('Name').fill(name);
    await page.keyboard.press('Control+s');
    const notice = page.getByRole('status').filter({ hasText: 'Not saved yet.' });
    await expect(notice).toContainText(message);
    await expect(notice).toContainText(words);
    await expect(page.getByLabel('Name')).toHaveValue(name);
    if (index === 0) await expectAccessible(page);
    fails = false;
    await notice.getByRole('button', { name: 'Try now' }).click();
    await expect(page.getByText(`Saved as version ${String(index + 2)}.`)).toBeVisible();
    await expect(notice).toBeHidden();
    await page.unroute(`**${PATH}`);
  }
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Kettle after 507' });
});

test('repeats a save automatically when no response arrives', async ({ page, server }) => {
  await openForm(page, PRODUCT);
  let attempts = 0;
  await page.route(`**${PATH}`, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    attempts += 1;
    if (attempts === 1) return route.abort();
    // The server stores the object, but its response is lost.
    if (attempts === 2) {
      await route.fetch();
      return route.abort();
    }
    return route.continue();
  });
  await page.getByLabel('Name').fill('Kettle without a response');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Not saved yet.')).toContainText('cannot be reached');
  await expect(page.getByText('Saved as version 2.')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('No changes')).toBeVisible();
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Kettle without a response',
    internal: { latestVersion: 2 },
  });
});

test('merges changes by others, also after the network was lost', async ({ page, server }) => {
  await withoutLiveUpdates(page);
  await openForm(page, PRODUCT);
  await page.getByLabel('Name').fill('Kettle of two');
  await server.send('PATCH', PATH, { price: 77 });
  let lost = true;
  await page.route(
    (url) => url.pathname === PATH,
    (route) => (lost && route.request().method() === 'GET' ? route.abort() : route.continue()),
  );
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Not saved yet.')).toBeVisible();
  lost = false;
  await expect(page.getByText(/changed Price; both changes are saved/)).toBeVisible({ timeout: 30_000 });
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Kettle of two',
    price: 77,
  });
  await expectAccessible(page);
});

test('keeps a text that is too large for the server', async ({ page, server }) => {
  await openForm(page, 'c/author/maren');
  const large = 'A line of a very long life.\n'.repeat(50_000);
  await paste(page.getByLabel('Bio'), large);
  await page.keyboard.press('Control+s');
  const alert = page.getByRole('alert').filter({ hasText: 'Not saved' });
  await expect(alert).toContainText('the server stores at most 1 MB');
  await expect(alert).toContainText('The largest part is Bio with 1.4 MB');
  await expect(alert).toContainText('Shorten it, then save again. Your text stays stored.');
  await page.getByLabel('Name').focus();
  await alert.getByRole('button', { name: 'Show Bio' }).click();
  await expect(page.getByLabel('Bio')).toBeFocused();
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByText(/Your changes from .*, not saved yet/)).toBeVisible();
  await expect(page.getByLabel('Bio')).toContainText('A line of a very long life.');
  await page.getByLabel('Bio').press('Control+a');
  await page.keyboard.type('A short life.');
  await page.keyboard.press('Control+s');
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  expect(await server.stored('author/maren')).toMatchObject({ bio: 'A short life.' });
});

test.describe('an object that was deleted meanwhile', () => {
  const lonely = { id: 'lonely', name: 'Lonely', kind: 'tool', price: 1 };

  test.beforeEach(async ({ page, server }) => {
    await withoutLiveUpdates(page);
    await server.send('POST', '/api/v1/content/product', lonely);
    await openForm(page, 'c/product/lonely');
    await page.getByLabel('Name').fill('Still wanted');
  });

  test('is saved again as a new one, even when that is refused at first', async ({ page, server }) => {
    await server.send('DELETE', '/api/v1/content/product/lonely');
    await page.getByLabel('Price').fill('');
    await page.keyboard.press('Control+s');
    await expect(page.getByText(/deleted this object/)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save my text as a new object' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'validation error' })).toContainText('Price');
    // The unsaved work now belongs to a new object, also after a reload.
    await expect(page).toHaveURL(/\/c\/product\/[+]new\?key=(~|%7E)/);
    await expect(page.getByText(/changes?, stored/)).toBeVisible();
    await page.reload();
    await expect(page.getByLabel('Name')).toHaveValue('Still wanted');
    await page.getByLabel('Price').fill('2');
    await saveButton(page).click();
    await expect(page.getByText('Saved as version 1.')).toBeVisible();
    await expect(page).toHaveURL(/\/c\/product\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await server.stored(`product/${id}`)).toMatchObject({ name: 'Still wanted', price: 2 });
  });

  test('can be restored with the unsaved text', async ({ page, server }) => {
    await withoutWorkingCopies(page);
    await page.getByLabel('Slug').fill('still-wanted');
    await expect(page.getByText(/2 changes, stored/)).toBeVisible();
    const address = page.url();
    await page.goto(`${new URL(address).origin}/admin`);
    await server.send('DELETE', '/api/v1/content/product/lonely');
    await page.goto(address);
    await expect(page.getByText(/deleted this object/)).toBeVisible();
    await expect(page.getByLabel('Name')).toHaveValue('Still wanted');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore it' }).click();
    await expect(page.getByText(/deleted this object/)).toBeHidden();
    await saveButton(page).click();
    await expect(page.getByText(/Saved as version/)).toBeVisible();
    expect(await server.stored('product/lonely')).toMatchObject({
      name: 'Still wanted',
      slug: 'still-wanted',
    });
  });
});

test('does not repeat a save that is too large, and says so when a proxy refuses it', async ({ page }) => {
  await page.clock.install();
  await openForm(page, PRODUCT);
  let saves = 0;
  await page.route(`**${PATH}`, (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    saves += 1;
    return route.fulfill({ status: 413, contentType: 'text/html', body: '<h1>413</h1>' });
  });
  await page.getByLabel('Name').fill('Kettle behind a proxy');
  await page.keyboard.press('Control+s');
  const alert = page.getByRole('alert').filter({ hasText: 'proxy' });
  await expect(alert).toContainText(/The object has \d+\sB\. Perhaps a proxy.*The largest part is /);
  await expect(page.getByText('1 change, stored')).toBeVisible();
  await expect(page.getByText('Not saved yet.')).toBeHidden();
  await page.clock.fastForward(60_000);
  await expectAccessible(page);
  expect(saves).toBe(1);
});

test('repeats a save whose response came from a captive portal', async ({ page, server }) => {
  await openForm(page, PRODUCT);
  await page.route(`**${PATH}`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Welcome to the train</title>' }),
  );
  await page.getByLabel('Name').fill('Kettle on a train');
  await page.keyboard.press('Control+s');
  const notice = page.getByRole('status').filter({ hasText: 'Not saved yet.' });
  await expect(notice).toBeVisible();
  await page.unroute(`**${PATH}`);
  await notice.getByRole('button', { name: 'Try now' }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  expect(await server.stored('product/slow-kettle')).toMatchObject({ name: 'Kettle on a train' });
});
