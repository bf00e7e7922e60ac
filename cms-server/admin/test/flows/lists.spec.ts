import type { Page } from '@playwright/test';
import { switchTo } from '../screens';
import { expect, expectAccessible, open, test } from '../support';

async function openList(page: Page, label: string): Promise<void> {
  await open(page, `c/${label.toLowerCase()}`);
  await expect(page.getByRole('heading', { level: 1, name: label })).toBeVisible();
}

/** Adds a filter by property, condition and text. */
async function addFilter(page: Page, property: string, operator: string, value: string): Promise<void> {
  await page.getByRole('button', { name: '+ Filter' }).click();
  await page.getByLabel('Property').selectOption({ label: property });
  await page.getByLabel('Condition').selectOption({ label: operator });
  await page.getByLabel('Value', { exact: true }).fill(value);
  await page.getByRole('button', { name: 'Apply' }).click();
}

const titles = (page: Page) => page.getByRole('table').getByRole('rowheader');

test('filters, order and columns survive back, reload and a saved view', async ({ page }) => {
  await openList(page, 'Product');
  await expect(titles(page)).toHaveCount(14);
  await addFilter(page, 'Price', 'at most', '9');
  await expect(titles(page)).toHaveCount(5);
  await page.getByRole('button', { name: 'Price', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'Price' })).toHaveAttribute('aria-sort', 'ascending');
  await expect(titles(page).first()).toHaveText('River mint');
  await page.getByRole('button', { name: 'Display' }).click();
  await page.getByLabel('Maker').check();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('columnheader', { name: 'Maker' })).toBeVisible();
  await expectAccessible(page);

  await page.reload();
  await expect(titles(page).first()).toHaveText('River mint');
  await expect(page.getByRole('columnheader', { name: 'Maker' })).toBeVisible();
  await page.getByRole('link', { name: 'River mint' }).click();
  await page.goBack();
  await expect(titles(page)).toHaveCount(5);
  await expect(page.getByRole('link', { name: 'River mint' })).toBeFocused();

  await page.getByRole('button', { name: /^View/ }).click();
  await page.getByRole('menuitem', { name: 'Save as a view…' }).click();
  await page.getByLabel('Name of the view').fill('Cheap');
  await page.getByLabel('Everyone who may read this type sees it').check();
  await page.getByRole('button', { name: 'Save view' }).click();
  await expect(page.getByRole('button', { name: 'View: Cheap' })).toBeVisible();
  await page.getByRole('button', { name: /^Remove: Price/ }).click();
  await expect(titles(page)).toHaveCount(14);
  await expect(page.getByRole('button', { name: 'View: Cheap (changed)' })).toBeVisible();
  await page.getByRole('button', { name: /^View/ }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Cheap' }).click();
  await expect(titles(page)).toHaveCount(5);
  await page.goBack();
  await expect(titles(page)).toHaveCount(14);
});

test('filters by a linked object and by words, and says that nothing matches', async ({ page }) => {
  await openList(page, 'Product');
  await page.getByRole('button', { name: '+ Filter' }).click();
  await page.getByLabel('Property').selectOption({ label: 'Maker' });
  const makers = page.getByRole('combobox', { name: 'Value' });
  await makers.fill('mar');
  await page.getByRole('option', { name: /Maren/ }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(titles(page)).toHaveCount(3);
  await expect(page.getByText('Maker: Maren Holloway')).toBeVisible();
  await page.getByLabel('Search words').fill('tidewat');
  await expect(titles(page)).toHaveText(['Tidewater']);
  await expect(page.getByRole('button', { name: 'Price', exact: true })).toBeDisabled();
  await page.getByLabel('Search words').fill('zzz');
  await expect(page.getByText('No object matches these filters.').last()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove all filters' }).click();
  await expect(titles(page)).toHaveCount(14);
});

test('moves, selects and opens rows by keys', async ({ page }) => {
  await openList(page, 'Author');
  const rows = page.getByRole('table').getByRole('rowheader').getByRole('link');
  await rows.first().focus();
  await page.keyboard.press('j');
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press('x');
  await expect(
    page.getByRole('region', { name: 'Actions on selected rows' }).getByText('1 selected'),
  ).toBeVisible();
  await page.keyboard.press('End');
  await expect(rows.last()).toBeFocused();
  await page.keyboard.press('ArrowUp');
  const title = (await rows.nth(3).innerText()).trim();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
});

test('shows, filters, sorts and pages 2,000 objects with two requests', async ({ page, server }) => {
  for (let first = 0; first < 2000; first += 1000) {
    const objects = Array.from({ length: 1000 }, (_, index) => {
      const number = first + index;
      return { id: `tag-${String(number)}`, name: `Tag ${String(number).padStart(5, '0')}` };
    });
    await server.send('POST', '/api/v1/content/_tag/batch', objects);
  }
  // A screen without requests: those of the frame are sent before it is shown.
  await open(page, 'nothing-here');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const requests: string[] = [];
  page.on('request', (request) => {
    if (/\/api\/(?!v1\/changes)/.test(request.url())) requests.push(request.url());
  });
  await switchTo(page, 'c/_tag');
  await expect(page.getByText('1–50 of 2,009')).toBeVisible();
  expect(requests.slice(2)).toEqual([]);
  await page.getByRole('button', { name: 'Title' }).click();
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page.getByText('Page 2 of 41')).toBeVisible();
  await expect(titles(page)).toHaveCount(50);
  await addFilter(page, 'Name', 'begins with', 'Tag 0199');
  await expect(page.getByText('1–10 of 10')).toBeVisible();
});

test('fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await openList(page, 'Author');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Post', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Objects of type Post' }).getByRole('listitem')).toHaveCount(
    16,
  );
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Display' }).click();
  await page.getByLabel('Sort by').selectOption('Title');
  await page.getByLabel('Descending').uncheck();
  // While the objects are read, those of the former order are shown in a paler colour.
  await expect(page.locator('.old')).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  const links = page.getByRole('list', { name: 'Objects of type Post' }).getByRole('link');
  await expect(links).toHaveCount(16);
  const shown = await links.allTextContents();
  expect(shown).toEqual([...shown].sort());
});

test('shows only the title without other columns', async ({ page }) => {
  await openList(page, 'Author');
  await page.getByRole('button', { name: 'Display' }).click();
  const columns = page.getByRole('group', { name: 'Columns' }).getByRole('checkbox', { checked: true });
  await expect(columns.first()).toBeVisible();
  while ((await columns.count()) > 0) {
    const before = await columns.count();
    await columns.first().uncheck();
    await expect(columns).toHaveCount(before - 1);
  }
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('columnheader')).toHaveText([/^Title/]);
});

test('does not move under the pointer when others change the list', async ({ page, server }) => {
  await openList(page, 'Author');
  await expect(titles(page)).toHaveCount(5);
  await server.request('POST', '/api/v1/content/author', { id: 'new', name: 'Zoe Neu', role: 'writer' });
  await expect(page.getByText('1 new change')).toBeVisible({ timeout: 40_000 });
  await expect(titles(page)).toHaveCount(5);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  // Objects of the same second are in the order of their creation.
  await expect(titles(page).filter({ hasText: 'Zoe Neu' })).toBeVisible();
  await expect(titles(page)).toHaveCount(6);
});

test('saves a view once, although the first attempt failed', async ({ page }) => {
  await openList(page, 'Product');
  await addFilter(page, 'Price', 'at most', '9');
  const view = page.getByRole('button', { name: /^View/ });
  const dialog = page.getByRole('dialog', { name: 'Save view' });
  for (const shared of [false, true]) {
    const path = shared ? '**/contenttype/product/views' : '**/session/settings';
    // The server stores it, and its response is lost.
    await page.route(path, async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      await route.fetch();
      await route.abort();
    });
    await view.click();
    await page.getByRole('menuitem', { name: 'Save as a view…' }).click();
    await dialog.getByLabel('Name of the view').fill('  ');
    await dialog.getByRole('button', { name: 'Save view' }).click();
    await expect(dialog.getByLabel('Name of the view')).toBeFocused();
    await dialog.getByLabel('Name of the view').fill(shared ? 'Of all' : 'Mine');
    await dialog.getByLabel('Everyone who may read this type sees it').setChecked(shared);
    await dialog.getByRole('button', { name: 'Save view' }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
    if (!shared) await expectAccessible(page);
    await page.unroute(path);
    await dialog.getByRole('button', { name: 'Save view' }).click();
    await expect(dialog).toBeHidden();
  }
  await page.reload();
  await view.click();
  await expect(page.getByRole('menuitemcheckbox', { name: 'Mine', exact: true })).toHaveCount(1);
  await expect(page.getByRole('menuitemcheckbox', { name: 'Of all', exact: true })).toHaveCount(1);
});
