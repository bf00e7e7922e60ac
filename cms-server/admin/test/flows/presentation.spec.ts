// The page under hard conditions: hostile contents, a phone, no pointer, right-to-left, large text.
import type { Page } from '@playwright/test';
import { ADMIN, type Server } from '../server';
import { expect, expectAccessible, signIn, test } from '../support';

const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const HOSTILE_HTML = `<p onclick="alert(3)">Seen ${HOSTILE}<a href="javascript:alert(4)">link</a></p><svg onload=alert(5)></svg><iframe src="javascript:alert(6)"></iframe>`;
const SCREENS = ['', 'c/post', 'c/product/tidewater', 'c/post/the-ten-oclock-boat', 'media'];

async function create(server: Server, type: string, values: Record<string, unknown>): Promise<void> {
  const response = await server.request('POST', `/api/v1/content/${type}`, values);
  expect(response.status, await response.clone().text()).toBe(200);
}

/** Opens a screen and waits until its contents are there. */
async function open(page: Page, home: string, path: string): Promise<void> {
  await page.goto(`${home}/admin/${path}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
  await page.waitForLoadState('load');
}

/** Nothing is beside the window, and no text is cut off at the side of a control. */
async function expectNoSidewaysScroll(page: Page, path: string): Promise<void> {
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

test('hostile HTML in every kind of field is text', async ({ page, server, home }) => {
  test.setTimeout(180_000);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await create(server, 'author', {
    id: 'evil',
    name: HOSTILE,
    role: 'writer',
    bio: HOSTILE,
    languages: [HOSTILE],
  });
  await create(server, 'place', {
    id: 'evil',
    name: HOSTILE,
    kind: 'cafe',
    location: { lat: 1, lon: 2 },
    address: HOSTILE,
    opening: [{ day: HOSTILE, hours: HOSTILE }],
    story: `${HOSTILE}\n\n[link](javascript:alert(7))`,
  });
  await create(server, 'product', {
    id: 'evil',
    name: HOSTILE,
    kind: 'tea',
    price: 1,
    notes: [HOSTILE],
    maker: [{ type: 'internal', dataUrl: '/api/v1/content/author/evil' }],
    origin: [{ type: 'internal', dataUrl: '/api/v1/content/place/evil' }],
    description: HOSTILE_HTML,
  });
  await create(server, 'post', {
    id: 'evil',
    title: HOSTILE,
    slug: 'evil',
    published: '2026-01-02T03:04',
    author: [{ type: 'internal', dataUrl: '/api/v1/content/author/evil' }],
    excerpt: HOSTILE,
    content: {
      time: 1,
      version: '2.30',
      blocks: [
        { id: 'a', type: 'paragraph', data: { text: HOSTILE_HTML } },
        { id: 'b', type: 'header', data: { text: HOSTILE, level: 2 } },
        { id: 'c', type: 'list', data: { style: 'unordered', items: [HOSTILE] } },
      ],
    },
  });
  await signIn(page);
  for (const type of ['author', 'place', 'product', 'post']) {
    await open(page, home, `c/${type}`);
    await expect(page.getByRole('link', { name: HOSTILE, exact: true })).toBeVisible();
    await expectAccessible(page);
    await open(page, home, `c/${type}/evil`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(HOSTILE);
    await expect(page.getByLabel(/^(Name|Title)/).first()).toHaveValue(HOSTILE);
    await expect(page.getByText('No changes')).toBeVisible();
    await expectAccessible(page);
  }
  await expect(page.getByLabel(/^Excerpt/)).toHaveValue(HOSTILE);
  await open(page, home, 'search?q=onerror');
  await expect(page.getByRole('main').getByText(HOSTILE).first()).toBeVisible();
  await open(page, home, 'activity');
  await expect(page.getByText(HOSTILE).first()).toBeVisible();
  const inside = await page.evaluate(
    () => document.querySelectorAll('[onerror], [onclick], img[src=x]').length,
  );
  expect(inside).toBe(0);
  expect(dialogs).toEqual([]);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('no screen scrolls sideways, and the save bar is one line', async ({ page, home }) => {
    test.setTimeout(120_000);
    await signIn(page);
    for (const path of SCREENS) {
      await open(page, home, path);
      await expectNoSidewaysScroll(page, path);
      await expectAccessible(page);
    }
    await open(page, home, 'c/product/tidewater');
    await page.getByLabel(/^Price/).fill('12');
    const save = await page.getByRole('button', { name: /^Save/ }).boundingBox();
    const discard = await page.getByRole('button', { name: 'Discard…' }).boundingBox();
    expect(discard?.y).toBe(save?.y);
    expect(save?.height).toBeGreaterThanOrEqual(44);
    await expectAccessible(page);
  });
});

/** Presses a key until the focus is where it should be, as people do. */
async function tabTo(page: Page, isThere: () => Promise<boolean>, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await isThere()) return;
    await page.keyboard.press(key);
  }
  throw new Error('the focus never got there');
}

test('works without a pointer from sign-in to sign-out', async ({ page }) => {
  const focused = page.locator(':focus');
  const hasFocus = (text: RegExp) => async () =>
    text.test(
      await page.evaluate(() => {
        const element = document.activeElement;
        const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
        return (label ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim();
      }),
    );
  await tabTo(page, hasFocus(/^E-mail/));
  await page.keyboard.type(ADMIN.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(ADMIN.password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeFocused();
  await tabTo(page, hasFocus(/^Product$/), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Product' })).toBeFocused();
  await expect(page.getByRole('link', { name: 'Tidewater' })).toBeVisible();
  await tabTo(page, hasFocus(/^Tidewater$/));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Tidewater' })).toBeFocused();
  await expect(page.getByLabel(/^Price/)).toBeVisible();
  await tabTo(page, hasFocus(/^Price/));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('10');
  await expect(focused).toHaveValue('10');
  await tabTo(page, hasFocus(/^Save/));
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await tabTo(page, hasFocus(new RegExp(`^${ADMIN.name}`)), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('E-mail')).toBeVisible();
});

test('is mirrored right-to-left', async ({ page, home }) => {
  test.setTimeout(120_000);
  await signIn(page);
  for (const path of SCREENS) {
    await open(page, home, path);
    await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    await expectNoSidewaysScroll(page, path);
    const side = await page.getByRole('navigation', { name: 'Navigation' }).boundingBox();
    const main = await page.getByRole('main').boundingBox();
    expect(side?.x).toBeGreaterThan(main?.x ?? Infinity);
    await expectAccessible(page);
  }
});

test('shows everything with text of 200 %', async ({ page, home }) => {
  test.setTimeout(120_000);
  await signIn(page);
  for (const path of SCREENS) {
    await open(page, home, path);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await expectNoSidewaysScroll(page, path);
    await expectAccessible(page);
  }
});
