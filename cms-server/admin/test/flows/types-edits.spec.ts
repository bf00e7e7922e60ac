// Edited types that are not applied yet: others change them, or the page is closed.
import type { Page } from '@playwright/test';
import { ADMIN_KEY } from '../server';
import { expect, expectAccessible, open, signIn, test } from '../support';
import { apply, changeType, createType, plan, readType, typeDefinition } from '../types';
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

test('keeps edits when the user switches off storing on this device', async ({ page }) => {
  await editLabel(page, 'event', 'Meeting');
  await open(page, 'me');
  await page.getByLabel('Store unsaved work on this device').uncheck();
  await expect(page.getByText('Saved.')).toBeVisible();
  await open(page, 'types/event?view=settings');
  await expect(page.getByLabel('Label', { exact: false }).first()).toHaveValue('Meeting');
});

test('sends a number that JavaScript would round as it was read', async ({ page, server }) => {
  await createType(server, typeDefinition('sheet', 'Sheet', { count: { inputType: 'number' } }));
  const path = '/api/v1/internal/contenttype/sheet';
  const readText = async () => (await server.request('GET', path)).text();
  const text = (await readText()).replace('"type":"integer"', '"type":"integer","maximum":9007199254740993');
  await fetch(server.url + path, {
    method: 'PUT',
    headers: { 'X-AUTH-TOKEN': ADMIN_KEY, 'Content-Type': 'application/json' },
    body: text,
  });
  await editLabel(page, 'sheet', 'Page');
  // Edits that the page reads from the storage of the browser are sent exactly, too.
  await page.reload();
  await apply(page).click();
  await expect(page.getByText('Page: the change is applied.')).toBeVisible();
  expect(await readText()).toContain('"maximum":9007199254740993');
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
