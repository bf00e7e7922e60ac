// Forced colours, more contrast, reduced motion: what is chosen, changed or focused stays visible.
import type { Locator, Page } from '@playwright/test';
import { addManaged, focusedName, openScreen } from '../screens';
import { expect, expectAccessible, test } from '../support';

/** Colours as they are painted. */
const colours = (locator: Locator) =>
  locator.evaluate((element) => {
    const { backgroundColor, color, outlineStyle, outlineWidth } = getComputedStyle(element);
    return { backgroundColor, color, outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth) };
  });

/** Returns whether the focused element, or a frame around it, has a focus ring; null if nothing has the focus. */
const hasRing = (page: Page): Promise<boolean | null> =>
  page.evaluate(() => {
    let element = document.activeElement;
    if (element === document.body) return null;
    for (let level = 0; element && level < 4; level += 1, element = element.parentElement) {
      const { outlineStyle, outlineWidth, textDecorationLine } = getComputedStyle(element);
      if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) return true;
      if (element.tagName === 'H1' && textDecorationLine === 'underline') return true;
    }
    return false;
  });

test.describe('in forced colours', () => {
  test.use({ forcedColors: 'active' });

  test('shows what is chosen, and where the keyboard is', async ({ page, server }) => {
    test.setTimeout(180_000);
    await addManaged(server);
    expect(await page.evaluate(() => matchMedia('(forced-colors: active)').matches)).toBe(true);

    await openScreen(page, 'c/post');
    const side = page.getByRole('navigation', { name: 'Navigation' });
    const current = await colours(side.getByRole('link', { name: 'Post', exact: true }));
    const other = await colours(side.getByRole('link', { name: 'Product', exact: true }));
    expect(current.backgroundColor).not.toBe(other.backgroundColor);
    expect(current.backgroundColor).not.toBe(current.color);
    await page
      .getByRole('checkbox', { name: /^Select / })
      .nth(1)
      .check();
    const rows = page.getByRole('row');
    expect((await colours(rows.nth(1))).outline).toBeGreaterThan(0);
    expect((await colours(rows.nth(2))).outline).toBe(0);
    const create = await colours(page.getByRole('link', { name: 'New: Post' }));
    const quiet = await colours(page.getByRole('button', { name: /^View/ }));
    expect(create.backgroundColor).not.toBe(quiet.backgroundColor);

    await openScreen(page, 'c/product/tidewater');
    await page.getByLabel(/^Price/).fill('13');
    const changed = page.locator('[data-path="price"] .field');
    const mark = (locator: Locator) =>
      locator.evaluate((element) => getComputedStyle(element, '::before').backgroundColor);
    expect(await mark(changed)).not.toBe(await mark(page.locator('[data-path="name"] .field')));

    await openScreen(page, 'media');
    const toggles = page.getByRole('group', { name: 'View' }).getByRole('button');
    expect((await colours(toggles.first())).backgroundColor).not.toBe(
      (await colours(toggles.last())).backgroundColor,
    );
    await expectAccessible(page);
  });

  test('has a focus ring on every control of the main screens', async ({ page, server }) => {
    test.setTimeout(180_000);
    await addManaged(server);
    for (const path of ['', 'c/post', 'c/product/tidewater', 'media', 'types/product', 'me']) {
      await openScreen(page, path);
      for (let press = 0; press < 60; press += 1) {
        await page.keyboard.press('Tab');
        const ring = await hasRing(page);
        if (ring === null) break;
        expect(ring, `${path}: ${await focusedName(page)}`).toBe(true);
      }
    }
    await expectAccessible(page);
  });
});

test('has enough contrast in the themes of the settings', async ({ page, server }) => {
  test.setTimeout(600_000);
  await addManaged(server);
  for (const theme of ['Dark', 'High contrast']) {
    await openScreen(page, 'me');
    await page.getByRole('radio', { name: theme }).check();
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme === 'Dark' ? 'dark' : 'contrast');
    for (const path of ['', 'c/post', 'c/post/the-ten-oclock-boat', 'media', 'activity', 'types/product']) {
      await openScreen(page, path);
      await expectAccessible(page);
    }
  }
});

test('moves nothing with reduced motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openScreen(page, 'c/product/tidewater');
  await page.getByRole('button', { name: 'Choose… Pictures' }).click();
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible();
  const moving = await page.evaluate(() =>
    document
      .getAnimations()
      .filter((animation) => {
        const duration = animation.effect?.getTiming().duration;
        return typeof duration === 'number' && duration > 1;
      })
      .map(
        ({ id, effect }) =>
          `${id} ${effect instanceof KeyframeEffect ? (effect.target?.className ?? '') : ''}`,
      ),
  );
  expect(moving).toEqual([]);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe('auto');
  await expectAccessible(page);
});
