// Undo of actions on several objects.
import type { Page } from '@playwright/test';
import { createSheetType, send } from '../exact';
import { expect, signIn, test } from '../support';

const dialog = (page: Page) => page.getByRole('dialog');

test('gives long numbers their former values', async ({ page, server, home }) => {
  await createSheetType(server);
  await send(server, 'POST', 'sheet', '{"id":"one","title":"One","count":9007199254740993}');
  await signIn(page);
  await page.goto(`${home}/admin/c/sheet`);
  await page.getByLabel('Select One').check();
  await page.getByRole('button', { name: 'Edit a property…' }).click();
  await dialog(page).getByLabel('Property', { exact: true }).selectOption({ label: 'Count' });
  await dialog(page).getByLabel('Count').fill('5');
  await dialog(page).getByRole('button', { name: 'Change 1 object' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await send(server, 'GET', 'sheet/one', '')).toContain('"count":9007199254740993');
});
