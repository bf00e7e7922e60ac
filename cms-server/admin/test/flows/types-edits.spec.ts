// Edited types that are not applied yet: others change them, or the page is closed.
import type { Page } from '@playwright/test';
import { expect, expectAccessible, open, signIn, test } from '../support';
import { apply, changeType, plan, readType } from '../types';
import { chooseSignOut } from '../writing';

/** Gives a type another label, and does not apply it. */
async function editLabel(page: Page, type: string, label: string): Promise<void> {
  await open(page, `types/${type}?view=settings`);
  await page.getByLabel('Label', { exact: false }).first().fill(label);
  await expect(plan(page)).toContainText('Only settings change');
}

test('leaves a type that others have changed meanwhile out of the plan', async ({ page, server }) => {
  await editLabel(page, 'event', 'Meeting');
  await editLabel(page, 'place', 'Location');
  await page.getByRole('link', { name: 'Plan for 2 edited types' }).click();
  await expect(plan(page).getByText(/Only settings change/)).toHaveCount(2);
  await changeType(server, 'place', (type) => (type.label = 'Spot'));
  await expect(page.getByText(/Somebody has changed this type since you began/)).toBeVisible();
  await expect(plan(page).getByText(/Only settings change/)).toHaveCount(1);
  await expect(apply(page)).toBeEnabled();
  await expectAccessible(page);
  await apply(page).click();
  await expect(page.getByText('Meeting: the change is applied.')).toBeVisible();
  expect([await readType(server, 'event'), await readType(server, 'place')]).toMatchObject([
    { label: 'Meeting' },
    { label: 'Spot' },
  ]);
  // The plan of one type, which is left out, and its builder.
  await page.getByRole('link', { name: 'Plan for 1 edited type' }).click();
  await expect(plan(page)).toContainText('First merge your edits with the current definition.');
  await expect(apply(page)).toBeDisabled();
  await page.getByRole('link', { name: 'Location', exact: true }).click();
  await page.getByRole('button', { name: 'Merge my edits with the current definition' }).click();
  await expect(plan(page)).toContainText(/Spot\s+→\s+Location/);
});

test('asks before edits that this device does not store are lost', async ({ page }) => {
  await signIn(page);
  await page.evaluate(() => localStorage.setItem('cms.keep', 'no'));
  await editLabel(page, 'event', 'Meeting');
  const asked: string[] = [];
  page.once('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => asked).toEqual(['beforeunload']);
  page.once('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await chooseSignOut(page);
  await expect.poll(() => asked[1]).toContain('edits of content types are not applied');
  await expect(page.getByLabel('Label', { exact: false }).first()).toHaveValue('Meeting');
  // After the user has agreed, the page is left without another question.
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await chooseSignOut(page);
  await page.waitForURL('**/admin/sign-in');
  expect(asked.slice(2)).toEqual(['confirm']);
});
