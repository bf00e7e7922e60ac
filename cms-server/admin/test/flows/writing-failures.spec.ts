// Failures under an open form: deleted types, wrong clocks, full storage, several tabs, sign-out, killed processes.
import { createSession, createUser, expect, expectAccessible, test } from '../support';
import { createType, enableDraftPublic, typeDefinition } from '../types';
import {
  chooseSignOut,
  openForm,
  saveButton,
  signOut,
  withoutLiveUpdates,
  withoutWorkingCopies,
} from '../writing';

const KETTLE = 'c/product/slow-kettle';

test('keeps what was typed when the content type is deleted', async ({ page, server }) => {
  await createType(server, typeDefinition('memo', 'Memo', { title: { inputType: 'text' } }));
  await openForm(page, 'c/memo/+new');
  await page.getByLabel('Title').fill('Typed before the end of the type');
  await server.send('DELETE', '/api/v1/internal/contenttype/memo');
  await expect(page.getByText(/This content type was deleted/)).toBeVisible();
  await expect(page.getByLabel('Title')).toHaveValue('Typed before the end of the type');
  await expect(saveButton(page)).toHaveCount(0);
  await expectAccessible(page);
});

test('keeps what was typed when the user loses all rights to the type', async ({ page, server }) => {
  const rule = { ctd: 'product', create: true, read: true, update: true };
  const user = await createUser(server, 'custom', { rules: [rule] });
  await createSession(page, user);
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Mine until now');
  const rules = [{ ...rule, ctd: 'author' }];
  await server.send('PUT', `/api/v1/internal/user/${user.id}`, { role: 'custom', rules });
  await page.keyboard.press('Control+s');
  await expect(
    page.getByText(/You do not have the right to change|you may not read it any more/).first(),
  ).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Mine until now');
  await expect(saveButton(page)).toHaveCount(0);
  await expectAccessible(page);
});

for (const [what, years] of [
  ['ahead', 4],
  ['behind', -4],
] as const) {
  test(`works with a clock that is years ${what}`, async ({ page, server }) => {
    test.setTimeout(150_000);
    const shifted = Date.now() + years * 365 * 86_400_000;
    await page.clock.install({ time: shifted });
    await openForm(page, KETTLE);
    await withoutWorkingCopies(page);
    await page.getByLabel('Name').fill('Out of time');
    await expect(page.getByText(/1 change, stored/)).toBeVisible();
    // Unsaved work is neither too old nor of the future.
    await page.reload();
    await expect(page.getByLabel('Name')).toHaveValue('Out of time');
    await expect(page.getByText(/Your changes from \d\d:\d\d, not saved yet/)).toBeVisible();
    await saveButton(page).click();
    await expect(page.getByText('Saved as version 2.')).toBeVisible();
    await expect(page.getByRole('complementary')).toContainText(
      /Version\s*2, by ada, (now|\d+ seconds? ago)/,
    );
    // A schedule for tomorrow is neither over nor years away.
    await enableDraftPublic(server, 'product');
    const soon = { id: 'soon', name: 'Soon', kind: 'tool', price: 1 };
    await server.send('POST', '/api/v1/content/product', soon);
    await openForm(page, 'c/product/soon');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Schedule…' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText(/in \d+ hours|tomorrow|in 1 day/);
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    await expect(dialog).toBeHidden();
    const { internal } = await server.stored('product/soon');
    expect(internal).toHaveProperty('scheduledAt');
  });
}

test('keeps the unsaved work of two tabs on one object', async ({ page, context, server }) => {
  await openForm(page, KETTLE);
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(saveButton(other)).toBeVisible();
  await page.getByLabel('Name').fill('Kettle of the first tab');
  await other.getByLabel('Name').fill('Kettle of the second tab');
  await other.getByLabel('Price').fill('71');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await expect(other.getByText(/2 changes, stored/)).toBeVisible();
  // After a reload, each tab has its own work.
  await page.reload();
  await expect(page.getByLabel('Name')).toHaveValue('Kettle of the first tab');
  await other.reload();
  await expect(other.getByLabel('Name')).toHaveValue('Kettle of the second tab');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await saveButton(other).click();
  const dialog = other.getByRole('dialog', { name: 'Both changed the same property' });
  await expect(dialog).toContainText('Kettle of the first tab');
  await expectAccessible(other);
  await dialog.getByRole('button', { name: 'Save with these choices' }).click();
  await expect(other.getByText('Saved as version 3.')).toBeVisible();
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Kettle of the second tab',
    price: 71,
  });
  await expect(page.getByLabel('Name')).toHaveValue('Kettle of the second tab');
  const copies = await page.request.get('/api/v1/working-copies');
  expect(await copies.json()).toMatchObject({ total_count: 0 });
});

test('sends unsaved work before sign-out, and the next user does not see it', async ({ page, server }) => {
  const ben = await createUser(server, 'editor');
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Text of Ada');
  await signOut(page);
  await expect(page.getByLabel('E-mail')).toBeVisible();
  await expectAccessible(page);
  // No unsaved work is left in this browser.
  const left = await page.evaluate(
    () =>
      new Promise<number>((done, failed) => {
        const open = indexedDB.open('cms-unsaved');
        open.onerror = () => failed(new Error('cannot open'));
        open.onsuccess = () => {
          const count = open.result.transaction('work').objectStore('work').count();
          count.onsuccess = () => done(count.result);
        };
      }),
  );
  expect(left).toBe(0);
  await createSession(page, ben);
  await openForm(page, KETTLE);
  await expect(page.getByLabel('Name')).toHaveValue('Slow kettle');
  await signOut(page);
  await openForm(page, KETTLE);
  await expect(page.getByLabel('Name')).toHaveValue('Text of Ada');
  await expect(page.getByText(/not saved yet/)).toBeVisible();
  await expectAccessible(page);
});

test('asks before a sign-out that would lose the text of another tab', async ({ page, context }) => {
  await openForm(page, KETTLE);
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(saveButton(other)).toBeVisible();
  await other.getByLabel('Name').fill('Of the other tab');
  await expect(other.getByText(/1 change, stored/)).toBeVisible();
  await page.getByLabel('Name').fill('Of this tab');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  const asked: string[] = [];
  page.once('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await chooseSignOut(page);
  await expect.poll(() => asked).toEqual([expect.stringContaining('Sign out anyway and lose it?')]);
  await expect(page.getByLabel('Name')).toHaveValue('Of this tab');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
});

test('keeps stored work for another browser when the server is killed', async ({ page, browser, server }) => {
  await openForm(page, KETTLE);
  const sent = page.waitForResponse((response) => response.url().endsWith('/working-copy') && response.ok());
  await page.getByLabel('Name').fill('Stored before the crash');
  await page.getByLabel('Slug').focus();
  await sent;
  await server.stop('SIGKILL');
  await page.getByLabel('Name').fill('Typed while it was down');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await server.start();
  const context = await browser.newContext({ locale: 'en-GB' });
  const other = await context.newPage();
  await createSession(other);
  await openForm(other, KETTLE);
  await expect(other.getByLabel('Name')).toHaveValue(/^(Stored before the crash|Typed while it was down)$/);
  await context.close();
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved as version 2.')).toBeVisible({ timeout: 30_000 });
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    name: 'Typed while it was down',
  });
});

test('does not change an open form while the server is down', async ({ page, server }) => {
  await openForm(page, KETTLE);
  await page.getByLabel('Name').fill('Undisturbed');
  await withoutLiveUpdates(page);
  await server.stop('SIGKILL');
  await server.start();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByLabel('Name')).toHaveValue('Undisturbed');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved as version 2.')).toBeVisible({ timeout: 30_000 });
});
