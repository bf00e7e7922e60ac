// The states that every screen has: slow, stopped, failed, without a network; and where messages stand.
import type { Route } from '@playwright/test';
import { createNews } from '../news';
import { addManaged, openScreen, switchTo } from '../screens';
import { createSession, createUser, expect, expectAccessible, open, signIn, test } from '../support';

/** Requests of the frame, not of a screen: the session, the types, the settings and the stream. */
const FRAME = /\/session($|\/)|\/contenttype(\?|$|\/_webhooks$)|\/changes/;
const isOwnRequest = ({ pathname }: URL) =>
  /^\/(api\/|readyz|metrics)/.test(pathname) && !FRAME.test(pathname);

const SLOW_SCREENS: [path: string, content: string][] = [
  ['', 'Recent changes'],
  ['c/product/tidewater/compare?from=1&to=2', 'Price'],
  ['media/_media-37bd5a46-505c-4867-be29-ba7de75bcddb', 'Focal point'],
  ['users', 'ada@example.com'],
  ['keys', 'Last use'],
  ['webhooks', 'Build the site'],
  ['workflows', 'publishing'],
  ['types/product', 'Properties'],
  ['api', 'GET /api/v1/content'],
  ['me', 'this session'],
];

test('offers to stop a slow screen, and loads it again', async ({ page, server }) => {
  test.setTimeout(180_000);
  await addManaged(server);
  await page.clock.install();
  await openScreen(page, 'c/author');
  for (const [path, content] of SLOW_SCREENS) {
    await page.route(isOwnRequest, () => undefined);
    await switchTo(page, path);
    const main = page.getByRole('main');
    await expect(main.getByText('Loading…').first()).toBeAttached();
    await page.clock.fastForward(5100);
    await expect(main.getByText('Still loading…').first(), path).toBeVisible();
    await main.getByRole('button', { name: 'Stop', exact: true }).first().click();
    await expect(main.getByText('Loading was stopped.').first()).toBeVisible();
    if (path === 'keys') await expectAccessible(page);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await main.getByRole('button', { name: 'Try again' }).first().click();
    await expect(main.getByText(content).first(), path).toBeVisible();
  }
});

test('shows a comparison again after it was left', async ({ page, server }) => {
  await addManaged(server);
  await signIn(page);
  const heading = page.getByRole('heading', { name: /Compare versions/ });
  for (let visit = 0; visit < 2; visit += 1) {
    await switchTo(page, 'c/product/tidewater/compare?from=1&to=2');
    await expect(heading).toBeVisible();
    await switchTo(page, '');
    await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeVisible();
  }
});

test('marks earlier data as old without a network, and reads them again when it is back', async ({
  page,
  context,
}) => {
  await signIn(page);
  await switchTo(page, 'users');
  await expect(page.getByRole('cell', { name: 'ada@example.com' })).toBeVisible();
  await switchTo(page, 'me');
  await expect(page.getByRole('heading', { name: 'My settings' })).toBeVisible();
  await context.setOffline(true);
  await switchTo(page, 'users');
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await expect(page.getByText(/This is an earlier state/)).toBeVisible();
  await expect(page.getByRole('cell', { name: 'ada@example.com' })).toBeVisible();
  await expect(page.getByText('not live', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await context.setOffline(false);
  await expect(page.getByText(/This is an earlier state/)).toBeHidden();
  await expect(page.getByText('live', { exact: true })).toBeVisible();
});

test('loads a missing screen when the connection is back', async ({ page, context }) => {
  await signIn(page);
  await context.setOffline(true);
  await switchTo(page, 'activity');
  await expect(page.getByText('This screen is loaded when the connection is back.')).toBeVisible();
  await expectAccessible(page);
  await context.setOffline(false);
  await expect(page.getByRole('heading', { level: 1, name: 'Activity' })).toBeVisible();
});

test('says which right is missing, not only that access is denied', async ({ page, server }) => {
  const user = await createUser(server, 'custom', { rules: [{ ctd: 'author', read: true }] });
  await createSession(page, user);
  await page.goto('/admin/media');
  await expect(page.getByText('You may not see this. Missing right: read files')).toBeVisible();
  await page.goto('/admin/c/product/tidewater');
  await expect(page.getByRole('heading', { name: /no content type product, or you may not/ })).toBeVisible();
});

test('an earlier message covers neither the bar of selected rows nor a dialog', async ({ page, server }) => {
  await createNews(server, 30);
  await page.setViewportSize({ width: 390, height: 700 });
  await open(page, 'c/news?order=title');
  const select = () => page.getByLabel('Select News 000').check();
  const bar = page.getByRole('region', { name: 'Actions on selected rows' });
  await select();
  await bar.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: 'Publish 1 object' }).click();
  const message = page.getByText('1 object published.');
  await expect(message).toBeVisible();
  await select();
  await expect(bar).toBeVisible();
  await expect
    .poll(async () => {
      const [box, above] = [await bar.boundingBox(), await message.boundingBox()];
      return box && above ? above.y + above.height <= box.y : false;
    })
    .toBe(true);
  await bar.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await expect(dialog.getByText('1 object published.')).toHaveCount(0);
  await expectAccessible(page);
});

test('names the site in the top bar', async ({ page, pageOrigin }) => {
  const rename = async (route: Route) => {
    const response = await route.fetch();
    const session = (await response.json()) as Record<string, unknown>;
    await route.fulfill({ response, json: { ...session, space: { id: '1', name: 'Tidemill' } } });
  };
  await signIn(page);
  const link = page.getByRole('banner').getByRole('link');
  await expect(link).toHaveText(`cms ${new URL(pageOrigin).host}`);
  await page.route('**/api/v1/session', rename);
  await page.reload();
  await expect(link).toHaveText('cms Tidemill');
});
