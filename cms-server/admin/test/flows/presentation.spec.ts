// The page under hard conditions: hostile contents, a phone, no pointer.
import { ADMIN, type Server } from '../server';
import { addManaged, expectNoSidewaysScroll, openScreen, SCREENS, tabTo } from '../screens';
import { expect, expectAccessible, test } from '../support';

const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const HOSTILE_HTML = `<p onclick="alert(3)">Seen ${HOSTILE}<a href="javascript:alert(4)">link</a></p><svg onload=alert(5)></svg><iframe src="javascript:alert(6)"></iframe>`;

async function create(server: Server, type: string, values: Record<string, unknown>): Promise<void> {
  await server.send('POST', `/api/v1/content/${type}`, values);
}

test('hostile HTML in every kind of field is text', async ({ page, server }) => {
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
  for (const type of ['author', 'place', 'product', 'post']) {
    await openScreen(page, `c/${type}`);
    await expect(page.getByRole('link', { name: HOSTILE, exact: true })).toBeVisible();
    await expectAccessible(page);
    await openScreen(page, `c/${type}/evil`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(HOSTILE);
    await expect(page.getByLabel(/^(Name|Title)/).first()).toHaveValue(HOSTILE);
    await expect(page.getByText('No changes')).toBeVisible();
    await expectAccessible(page);
  }
  await expect(page.getByLabel(/^Excerpt/)).toHaveValue(HOSTILE);
  await page.setViewportSize({ width: 390, height: 800 });
  await openScreen(page, 'c/author/evil');
  await expect(page.getByLabel('Languages, item 1')).toHaveValue(HOSTILE);
  await expectNoSidewaysScroll(page, 'an object');
  await openScreen(page, 'c/product/slow-kettle');
  await page.getByRole('combobox', { name: 'Maker: search' }).fill('img');
  await page.getByRole('option', { name: /onerror/ }).click();
  await expect(page.getByRole('button', { name: HOSTILE, exact: true })).toBeVisible();
  await expectNoSidewaysScroll(page, 'an object with a link');
  await openScreen(page, 'search?q=onerror');
  await expect(page.getByRole('main').getByText(HOSTILE).first()).toBeVisible();
  await openScreen(page, 'activity');
  await expect(page.getByText(HOSTILE).first()).toBeVisible();
  const inside = await page.evaluate(
    () => document.querySelectorAll('[onerror], [onclick], img[src=x]').length,
  );
  expect(inside).toBe(0);
  expect(dialogs).toEqual([]);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('no screen scrolls sideways, and the save bar is one line', async ({ page, server }) => {
    test.setTimeout(600_000);
    await addManaged(server);
    for (const path of SCREENS) {
      await openScreen(page, path);
      await expectNoSidewaysScroll(page, path);
      await expectAccessible(page);
    }
    await openScreen(page, 'c/product/tidewater');
    await page.getByLabel(/^Price/).fill('13');
    const save = await page.getByRole('button', { name: /^Save/ }).boundingBox();
    const discard = await page.getByRole('button', { name: 'Discard…' }).boundingBox();
    expect(discard?.y).toBe(save?.y);
    expect(save?.height).toBeGreaterThanOrEqual(44);
    await expectAccessible(page);
  });
});

test('works without a pointer from sign-in to sign-out', async ({ page }) => {
  await page.goto('/admin');
  const focused = page.locator(':focus');
  await tabTo(page, /^E-mail/);
  await page.keyboard.type(ADMIN.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(ADMIN.password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Home' })).toBeFocused();
  await tabTo(page, /^Product$/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Product' })).toBeFocused();
  await expect(page.getByRole('link', { name: 'Tidewater' })).toBeVisible();
  await tabTo(page, /^Tidewater$/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Tidewater' })).toBeFocused();
  await expect(page.getByLabel(/^Price/)).toBeVisible();
  await tabTo(page, /^Price/);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('10');
  await expect(focused).toHaveValue('10');
  await tabTo(page, /^Save/);
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await tabTo(page, new RegExp(`^${ADMIN.name}`), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('E-mail')).toBeVisible();
});
