// Parts of the form that are loaded after it: they open even without a network.
import { expect, expectAccessible, test } from '../support';
import { openForm } from '../writing';

test('opens dialogs without a network', async ({ page }) => {
  await page.clock.install();
  const loaded = page.waitForResponse(/\/DiscardDialog-/);
  const errors = page.waitForResponse(/\/ErrorSummary-/);
  await openForm(page, 'c/product/slow-kettle');
  await page.getByLabel('Name').fill('Kettle without a network');
  await page.clock.fastForward(5000);
  await Promise.all([loaded, errors]);
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Discard…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Discard your changes?' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByText('Request', { exact: true }).click();
  await expect(page.getByLabel('curl')).toHaveValue(/slow-kettle/);
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Not saved yet.')).toBeVisible();
  await expectAccessible(page);
  await page.context().setOffline(false);
  await expect(page.getByText('Saved as version 2.')).toBeVisible({ timeout: 30_000 });
});

test('opens a dialog, although its code could not be loaded at first', async ({ page }) => {
  let isRefused = true;
  await page.route('**/assets/DiscardDialog-*.js', (route) => (isRefused ? route.abort() : route.continue()));
  await openForm(page, 'c/product/slow-kettle');
  await page.getByLabel('Name').fill('Kettle of a short failure');
  await page.getByRole('button', { name: 'Discard…' }).click();
  await expect(page.getByRole('button', { name: 'Load again' })).toBeVisible();
  isRefused = false;
  await expect(page.getByRole('dialog', { name: 'Discard your changes?' })).toBeVisible();
});
