// What a screen reader gets: the structure of the main screens, and what is announced while something changes.
import type { Page } from '@playwright/test';
import { openScreen } from '../screens';
import { expect, expectAccessible, test } from '../support';

/** Records what live regions announce: changed texts of regions that were there before, and new alerts. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    const regions = '[role="status"], [role="alert"], [aria-live="polite"], [aria-live="assertive"]';
    const known = new WeakSet<Element>(document.querySelectorAll(regions));
    const say = (element: Element) => {
      const text = (element.textContent ?? '').replace(/\s+/g, ' ').trim();
      if (text !== '' && heard.at(-1) !== text) heard.push(text);
    };
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest(regions);
        if (region && known.has(region) && !element?.closest('[aria-live="off"]')) say(region);
        for (const node of addedNodes) {
          if (!(node instanceof Element)) continue;
          const inside = [...(node.matches(regions) ? [node] : []), ...node.querySelectorAll(regions)];
          for (const added of inside) {
            if (added.getAttribute('role') === 'alert') say(added);
            known.add(added);
          }
        }
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { heard });
  });
  return () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
}

test('announces results, choices, errors, moves and what was saved', async ({ page }) => {
  await openScreen(page, 'c/product');
  let heard = await listen(page);
  await page.getByRole('searchbox').first().fill('kettle');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^1–1 of 1/));
  await page.getByRole('searchbox').first().fill('zzzz');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^No object matches/));
  await page.getByRole('searchbox').first().fill('');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/of 14/));
  await page
    .getByRole('checkbox', { name: /^Select / })
    .nth(1)
    .check();
  await expect.poll(heard).toContainEqual('1 selected');

  await openScreen(page, 'c/product/slow-kettle');
  heard = await listen(page);
  const name = page.getByLabel(/^Name/);
  await name.fill('');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^1 change/));
  await page.keyboard.press('ControlOrMeta+s');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/Name/));
  await expect(name).toBeFocused();
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  const described = await name.getAttribute('aria-describedby');
  await expect(page.locator(`[id="${described?.split(' ').at(-1) ?? ''}"]`)).toBeVisible();
  await name.fill('Slow kettle, again');

  const maker = page.getByRole('combobox', { name: 'Maker: search' });
  await maker.fill('maren');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^\d+ suggestions?$/));
  await maker.press('Escape');
  await page.getByLabel('Tasting notes, new item').fill('amber');
  await page.keyboard.press('Enter');
  await page.keyboard.type('honey');
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/is now number 1 of/));
  await page.keyboard.press('ControlOrMeta+s');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^Saved as version 2\./));
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^No changes/));

  await openScreen(page, 'search');
  heard = await listen(page);
  await page.getByRole('searchbox').fill('kettle');
  await expect.poll(heard).toContainEqual(expect.stringMatching(/^\d+ results/));
  await expectAccessible(page);
});

test('describes an input of an item by its own error', async ({ page }) => {
  await page.route('**/api/v1/content/place/*', async (route) => {
    if (route.request().method() !== 'PUT') return route.fallback();
    await route.fulfill({ status: 400, json: { 'location.lat': ['Too far north.'] } });
  });
  await openScreen(page, 'c/place');
  await page.getByRole('table').getByRole('link').first().click();
  const latitude = page.getByLabel('Latitude');
  await latitude.fill('51.5');
  await page.keyboard.press('ControlOrMeta+s');
  await expect(latitude).toHaveAccessibleDescription(/Too far north\./);
  await expect(page.getByLabel('Longitude')).not.toHaveAccessibleDescription(/Too far north/);
  await expectAccessible(page);
});
