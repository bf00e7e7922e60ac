// Every screen with large text, in a narrow window, and right-to-left.
import { addManaged, expectNoSidewaysScroll, openScreen, SCREENS } from '../screens';
import { expect, expectAccessible, test } from '../support';

const LAYOUTS = [
  { width: 1280, fontSize: '200%', dir: 'ltr' },
  // As with a zoom of 400 %.
  { width: 320, fontSize: '100%', dir: 'ltr' },
  { width: 1280, fontSize: '100%', dir: 'rtl' },
] as const;

test('shows everything with text of 200 %, at 320 px, and mirrored right-to-left', async ({
  page,
  server,
}) => {
  // A debug binary on a busy machine takes its time.
  test.setTimeout(600_000);
  await addManaged(server);
  const setLayout = async ({ width, fontSize, dir }: (typeof LAYOUTS)[number], height = 6000) => {
    await page.setViewportSize({ width, height });
    await page.evaluate(
      ([size, direction]) => {
        document.documentElement.style.fontSize = size;
        document.documentElement.dir = direction;
        // Components that follow the width of the window change in the next frame.
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      },
      [fontSize, dir] as const,
    );
  };
  for (const path of SCREENS) {
    await openScreen(page, path);
    for (const layout of LAYOUTS) {
      await setLayout(layout);
      await expectNoSidewaysScroll(page, path);
      if (path === SCREENS.at(-1)) await expectAccessible(page);
      if (layout.dir === 'ltr') continue;
      const side = await page.getByRole('navigation', { name: 'Navigation' }).boundingBox();
      const main = await page.getByRole('main').boundingBox();
      expect(side?.x, path).toBeGreaterThan(main?.x ?? Infinity);
      // Every heading starts where the text starts: at the right.
      const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
      expect((heading?.x ?? 0) + (heading?.width ?? 0), path).toBeGreaterThan(900);
    }
  }
  // Arrow keys go where they point.
  await openScreen(page, 'api');
  const tabs = page.getByRole('tab');
  await tabs.first().focus();
  await page.keyboard.press('ArrowLeft');
  await expect(tabs.nth(1)).toHaveAttribute('aria-selected', 'true');
  await expectAccessible(page);
  // A zoom also makes the window low: the focused field must not be under a bar.
  await openScreen(page, 'c/product/tidewater');
  await setLayout(LAYOUTS[1], 256);
  for (const label of [/^Name/, /^Price/]) {
    const field = page.getByLabel(label).first();
    await field.focus();
    const box = await field.boundingBox();
    const header = await page.getByRole('banner').boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual((header?.y ?? 0) + (header?.height ?? 0));
  }
});
