// All screens, and checks that must pass on each of them, in every size, direction and colour.
import type { Page } from '@playwright/test';
import type { Server } from './server';
import { expect, open } from './support';
import { enableDraftPublic } from './types';

/**
 * A path of each kind of screen, with the example site and `addManaged`. Neighbours have different paths: with another
 * query only, the page would keep the screen that `openScreen` has opened before.
 */
export const SCREENS = [
  '',
  'c/post',
  'c/product/tidewater',
  'c/post?q=kettle',
  'c/post/the-ten-oclock-boat',
  'c/product/tidewater?panel=versions',
  'c/place/tidemill',
  'c/product/tidewater?panel=used',
  'c/author/maren',
  'c/post/+new',
  'c/product/tidewater/compare?from=1&to=2',
  'media',
  'search?q=kettle',
  'media?view=list',
  'activity',
  'trash',
  'schedule',
  'types',
  'types/product',
  'users',
  'keys',
  'webhooks',
  'webhooks/build-site',
  'workflows',
  'system',
  'api',
  'me',
];

/** Adds data for the screens of management, versions and the trash. */
export async function addManaged(server: Server): Promise<void> {
  await enableDraftPublic(server, 'post');
  await server.send('PATCH', '/api/v1/content/post/batch', [{ id: 'the-ten-oclock-boat', minutes: 9 }]);
  await server.send('PATCH', '/api/v1/content/product/batch', [{ id: 'tidewater', price: 12 }]);
  await server.send('POST', '/api/v1/content/author', {
    id: 'gone',
    name: 'Someone who left',
    role: 'writer',
  });
  await server.send('DELETE', '/api/v1/content/author/gone');
  await server.send('POST', '/api/v1/internal/user', {
    email: 'ben@example.com',
    name: 'Ben Holt',
    role: 'editor',
  });
  await server.send('POST', '/api/v1/content/_webhooks', {
    id: 'build-site',
    name: 'Build the site',
    type: 'async',
    url: 'https://hooks.example.com/build',
    content_type_definitions: [],
    actions: [{ action: 'Update' }],
    headers: [],
    enabled: true,
  });
}

/** Opens another screen as Back does: the page is not loaded again. */
export async function switchTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', `/admin/${to}`);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

/** Opens a screen and waits until its contents are there; loads the page if that was not done before. */
export async function openScreen(page: Page, path: string): Promise<void> {
  if (page.url() === 'about:blank') await open(page, path);
  else await switchTo(page, path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(
    page.getByRole('main').locator('a, input, button, .notice').filter({ visible: true }).first(),
  ).toBeVisible();
  await expect(page.getByRole('main').locator('.skeleton')).toHaveCount(0);
  await page.waitForLoadState('load');
}

/** Expects that the page does not scroll sideways, and that no control cuts its text off. */
export async function expectNoSidewaysScroll(page: Page, path: string): Promise<void> {
  const width = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await expect.poll(width, `${path} scrolls sideways`).toBeLessThanOrEqual(0);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('button, h1, h2, label, nav a')]
      .filter((element) => element.checkVisibility() && element.clientWidth > 2)
      .filter((element) => {
        const { overflowX, textOverflow } = getComputedStyle(element);
        const ends = overflowX !== 'visible' && textOverflow !== 'ellipsis';
        return ends && element.scrollWidth > element.clientWidth + 1;
      })
      .map((element) => element.textContent),
  );
  expect(cut, `${path} cuts texts off`).toEqual([]);
}

/** The name of the focused element. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
    return (label ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim();
  });

/** Presses a key until the focused element has the name. */
export async function tabTo(page: Page, name: RegExp, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    if (name.test(await focusedName(page))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the focus never got to ${String(name)}`);
}
