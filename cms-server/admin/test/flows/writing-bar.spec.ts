// The save bar stays in view and covers nothing: neither the focused control nor the cursor.
import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from '../support';
import { openForm, saveButton } from '../writing';

/** Returns why the focused control is not in full view; empty if it is. */
function hidden(page: Page): Promise<string> {
  return page.evaluate(() => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    if (!focused || focused === document.body) return '';
    // What is seen of a button for files is its label.
    const seen = (focused.matches('[type=file]') && focused.closest('label')) || focused;
    const { top, bottom, left, right, height } = seen.getBoundingClientRect();
    const name = `${focused.tagName} ${focused.getAttribute('type') ?? ''} ${focused.getAttribute('aria-label') ?? focused.id}`;
    if (top >= innerHeight || bottom <= 0) return `${name} is outside of the window`;
    // The cursor of a long text is checked by another test.
    if (height > innerHeight / 2) return '';
    const middle = (left + right) / 2;
    const covered = [top + 2, (top + bottom) / 2, bottom - 2].filter((y) => {
      const at = document.elementFromPoint(middle, y);
      return !at || !(seen.contains(at) || at.contains(seen) || at.shadowRoot?.contains(focused));
    });
    return covered.length === 0 ? '' : `${name} is covered`;
  });
}

for (const viewport of [
  { width: 1280, height: 720 },
  { width: 1024, height: 480 },
  { width: 390, height: 664 },
]) {
  test(`shows every control that gets the focus at ${String(viewport.height)} pixels`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.setViewportSize(viewport);
    await openForm(page, 'c/product/tidewater');
    await page.getByLabel('Name').fill('Tidewater, changed');
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let presses = 0; presses < 70; presses += 1) {
        await page.keyboard.press(key);
        // An editor scrolls to its cursor in the frame after it got the focus.
        await expect
          .poll(() => hidden(page), { message: `after ${String(presses + 1)} times ${key}`, timeout: 1_000 })
          .toBe('');
      }
    }
    await expectAccessible(page);
  });
}

test('keeps the cursor of a growing text above the bar', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 600 });
  await openForm(page, 'c/author/maren');
  const bio = page.getByLabel('Bio');
  await bio.focus();
  await page.keyboard.press('Control+End');
  for (let line = 0; line < 30; line += 1) await page.keyboard.press('Enter');
  await page.keyboard.type('the last line');
  const bar = await saveButton(page).boundingBox();
  const bottom = await bio.evaluate((area) => area.getBoundingClientRect().bottom);
  // The last line of the control is the line of the cursor.
  expect(bottom - 12).toBeLessThan(bar?.y ?? 0);
  await expectAccessible(page);
});

test('the page scrolls by keyboard before anything has the focus, and the bar ends the form in a low window', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await openForm(page, 'c/product/tidewater');
  const heading = page.getByRole('heading', { level: 1 });
  await page.keyboard.press('PageDown');
  await expect(heading).not.toBeInViewport();
  await expect(saveButton(page)).toBeInViewport({ ratio: 1 });
  await expectAccessible(page);
  await page.setViewportSize({ width: 640, height: 300 });
  await page.evaluate(() => scrollTo(0, 0));
  await expect(saveButton(page)).not.toBeInViewport();
  await saveButton(page).scrollIntoViewIfNeeded();
  await expect(saveButton(page)).toBeInViewport();
  await expectAccessible(page);
});
