// Every screen with large text, in a narrow window, and right-to-left.
import { addManaged, expectNoSidewaysScroll, openScreen, SCREENS } from '../screens';
import { expect, expectAccessible, signIn, test } from '../support';

const MINUTES = 60_000; // A debug binary on a busy machine takes its time.

test('shows everything with text of 200 %', async ({ page, server }) => {
  test.setTimeout(10 * MINUTES);
  await page.setViewportSize({ width: 1280, height: 6000 });
  await addManaged(server);
  await signIn(page);
  for (const path of SCREENS) {
    await openScreen(page, path);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await expectNoSidewaysScroll(page, path);
  }
  await expectAccessible(page);
});

test('needs no sideways scrolling at 320 px, as with a zoom of 400 %', async ({ page, server }) => {
  test.setTimeout(10 * MINUTES);
  await page.setViewportSize({ width: 320, height: 6000 });
  await addManaged(server);
  await signIn(page);
  for (const path of SCREENS) {
    await openScreen(page, path);
    await expectNoSidewaysScroll(page, path);
  }
  await expectAccessible(page);
  // Such a zoom also makes the window low: the focused field must not be under a bar.
  await page.setViewportSize({ width: 320, height: 256 });
  await openScreen(page, 'c/product/tidewater');
  for (const label of [/^Name/, /^Price/]) {
    const field = page.getByLabel(label).first();
    await field.focus();
    const box = await field.boundingBox();
    const header = await page.getByRole('banner').boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual((header?.y ?? 0) + (header?.height ?? 0));
  }
});

test('is mirrored right-to-left', async ({ page, server }) => {
  test.setTimeout(10 * MINUTES);
  await page.setViewportSize({ width: 1280, height: 3600 });
  await addManaged(server);
  await signIn(page);
  for (const path of SCREENS) {
    await openScreen(page, path);
    await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    await expectNoSidewaysScroll(page, path);
    const side = await page.getByRole('navigation', { name: 'Navigation' }).boundingBox();
    const main = await page.getByRole('main').boundingBox();
    expect(side?.x, path).toBeGreaterThan(main?.x ?? Infinity);
    // Every heading starts where the text starts: at the right.
    const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
    expect((heading?.x ?? 0) + (heading?.width ?? 0), path).toBeGreaterThan(900);
  }
  // Arrow keys go where they point.
  await openScreen(page, 'api');
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  const tabs = page.getByRole('tab');
  await tabs.first().focus();
  await page.keyboard.press('ArrowLeft');
  await expect(tabs.nth(1)).toHaveAttribute('aria-selected', 'true');
  await expectAccessible(page);
});
