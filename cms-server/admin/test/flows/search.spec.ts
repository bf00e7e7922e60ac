import { expect, expectAccessible, open, signIn, test } from '../support';

test('finds and opens an object of one type by keyboard', async ({ page }) => {
  await signIn(page);
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search or jump to…' });
  await expect(field).toBeFocused();
  await page.keyboard.type('ket');
  await expect(page.getByRole('option').first()).toContainText('Slow kettle');
  await expectAccessible(page);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('post: kettle');
  await expect(page.getByRole('option').first()).toContainText('Post');
  // Two posts, and the search over everything.
  await expect(page.getByRole('option')).toHaveCount(3);
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option').nth(1)).toHaveAttribute('aria-selected', 'true');
  const title = (await page.getByRole('option').nth(1).locator('.label').innerText()).trim();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('group', { name: 'Opened recently' })).toContainText(title);
  await page.keyboard.press('Escape');
  await expect(field).toHaveCount(0);
});

test('searches all types, narrows by type, and keeps the search in the address', async ({ page }) => {
  await signIn(page);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Search or jump to…' })).toBeFocused();
  await page.keyboard.type('kettle');
  // Objects that are found appear above the option, and move it away from a pointer that is pressed on it.
  await expect(page.getByRole('listbox')).toHaveAttribute('aria-busy', 'false');
  await page.getByRole('option', { name: /Search everywhere/ }).click();
  await expect(page.getByText('6 results')).toBeVisible();
  await page.getByRole('radio', { name: /^Post/ }).check();
  await expect(page.getByText('2 results')).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByText('2 results')).toBeVisible();
  await expect(page.getByRole('radio', { name: /^Product/ })).toBeVisible();
  await page.goBack();
  await expect(page.getByText('6 results')).toBeVisible();
});

test('says that results can be missing while the search index is updated', async ({ page }) => {
  const notice = page.getByText('The search index does not include all changes yet');
  await open(page, 'c/post?q=kettle');
  await expect(page.getByRole('row', { name: /kettle/i }).first()).toBeVisible();
  await expect(notice).toHaveCount(0);
  await page.route('**/api/v1/search?*', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { summary: object };
    await route.fulfill({
      response,
      json: { ...body, summary: { ...body.summary, incomplete_results: true } },
    });
  });
  await page.reload();
  await expect(notice).toBeVisible();
  await expectAccessible(page);
  await page.goto('/admin/search?q=kettle');
  await expect(page.getByText('6 results')).toBeVisible();
  await expect(notice).toBeVisible();
});
