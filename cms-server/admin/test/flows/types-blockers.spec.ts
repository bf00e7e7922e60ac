// Content types: errors are shown at their settings, and nothing that was typed is lost.
import type { Page } from '@playwright/test';
import { expect, expectAccessible, test } from '../support';
import { openScreen } from '../screens';
import { apply, plan, property, readType } from '../types';

async function add(page: Page, kind: string, label: string): Promise<void> {
  await page.getByRole('button', { name: '+ Add property' }).click();
  await page
    .getByRole('option', { name: new RegExp(`^${kind}`) })
    .first()
    .click();
  await page.getByLabel('Label').fill(label);
}

test('keeps the field for stored objects while its value is wrong, and shows the error', async ({ page }) => {
  await openScreen(page, 'types/product');
  await add(page, 'Number', 'Stock');
  await page.getByLabel('Required', { exact: true }).check();
  await plan(page).getByLabel('Value for objects without Stock').fill('many');
  await expect(plan(page).getByRole('link', { name: 'Stock › Value for stored objects' })).toBeVisible();
  await expect(plan(page)).toContainText('1 blocker');
  await expect(plan(page)).not.toContainText('Only settings change');
  await expect(plan(page)).not.toContainText('No object is rewritten');
  await expectAccessible(page);
  await plan(page).getByLabel('Value for objects without Stock').fill('7');
  await expect(plan(page)).toContainText('14 filled with 7');
  await expect(apply(page)).toBeEnabled();
});

test('links from the plan to a wrong setting of a property and of the type', async ({ page }) => {
  await openScreen(page, 'types/product');
  await property(page, /^Name name/).click();
  await page.getByLabel('Pattern (regular expression)').fill('(');
  await expect(plan(page).getByRole('link', { name: /^Name › Pattern/ })).toBeVisible();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('Preview URL').fill('abc');
  await expect(plan(page)).toContainText('2 blockers');
  await plan(page)
    .getByRole('link', { name: /^Name › Pattern/ })
    .click();
  await expect(page.getByLabel('Pattern (regular expression)')).toBeFocused();
  await plan(page).getByRole('link', { name: 'Preview URL' }).click();
  await expect(page.getByLabel('Preview URL')).toBeFocused();
  await expect(page.getByLabel('Preview URL')).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page);
});

test('keeps a refused name and number, and applies nothing meanwhile', async ({ page }) => {
  await openScreen(page, 'types/product');
  await add(page, 'Number', 'Stock');
  await expect(apply(page)).toBeEnabled();
  await page.getByLabel('Name in the API').fill('id');
  await page.getByLabel('Minimum').fill('abc');
  await page.getByLabel('Value in new objects').fill('xyz');
  await expect(apply(page)).toBeDisabled();
  await expect(plan(page)).toContainText('Correct this first.');
  await expect(plan(page).getByRole('link')).toHaveCount(3);
  await property(page, /^Price/).click();
  await page.reload();
  await plan(page).getByRole('link', { name: 'Stock › Name in the API' }).click();
  await expect(page.getByLabel('Name in the API')).toHaveValue('id');
  await expect(page.getByLabel('Name in the API')).toBeFocused();
  await expect(page.getByLabel('Minimum')).toHaveValue('abc');
  await expectAccessible(page);
  await page.getByLabel('Name in the API').fill('stock');
  await page.getByLabel('Minimum').fill('1');
  await page.getByLabel('Value in new objects').fill('1.5');
  await expect(apply(page)).toBeEnabled();
});

test('keeps JSON that is no definition', async ({ page }) => {
  await openScreen(page, 'types/place?view=json');
  await page.locator('.cm-content').fill('{"name": ');
  await expect(plan(page)).toContainText('Correct this first.');
  await page.getByRole('tab', { name: 'Settings' }).click();
  await plan(page).getByRole('link', { name: 'JSON' }).click();
  await expect(page.locator('.cm-content')).toHaveText('{"name": ');
});

test('continues a removed property under a new name, also in the slug rule', async ({ page, server }) => {
  await openScreen(page, 'types/post');
  await page.getByRole('button', { name: 'Remove Title' }).click();
  await add(page, 'Text', 'Headline');
  await page.getByLabel('Name in the API').fill('main_title');
  await page.getByRole('button', { name: 'Yes, keep the values' }).click();
  await expect(page.getByLabel('Label')).toBeFocused();
  await expect(page.getByLabel('Required', { exact: true })).toBeChecked();
  await expect(plan(page)).toContainText('renamed from title');
  await expect(plan(page)).not.toContainText('lost');
  await apply(page).click();
  await expect(page.getByText('Post: the change is applied.')).toBeVisible();
  expect(await readType(server, 'post')).toMatchObject({ slugs: [{ source: 'main_title' }] });
  expect(await server.stored('post/the-ten-oclock-boat')).toMatchObject({
    main_title: 'The ten o’clock boat',
  });
});

test('says what a new type still needs, also on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await openScreen(page, 'types/+new');
  await expect(plan(page)).toContainText('Give the type a name of lower-case letters.');
  await expect(plan(page)).toContainText('A type needs at least one property.');
  await page.getByLabel('Label').fill('Recipe');
  await page.getByRole('tab', { name: 'Properties' }).click();
  await add(page, 'Choice', 'Course');
  await expect(plan(page)).toContainText('A choice needs an option.');
  await page.getByRole('button', { name: '+ Add option' }).click();
  await page.getByLabel('Value of option 1').fill('soup');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await expect(plan(page)).toContainText('New type: Recipe');
  await expect(apply(page)).toBeEnabled();
  await expectAccessible(page);
});
