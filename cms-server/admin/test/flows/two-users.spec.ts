// Two users at the same time: nothing is done in the name of another one, and stale screens undo nothing.
import { ADMIN } from '../server';
import { createSession, createUser, expect, expectAccessible, open, signIn, test } from '../support';
import { openForm, saveButton, signOut, withoutLiveUpdates } from '../writing';

const KETTLE = 'product/slow-kettle';

test('sends nothing in the name of a user who has signed in in another tab', async ({ page, server }) => {
  const ben = await createUser(server, 'admin');
  await openForm(page, `c/${KETTLE}`);
  // As if Ben has signed in in another tab, which has not notified this tab yet.
  await createSession(page, ben);
  await page.getByLabel('Name').fill('Written by Ada');
  await saveButton(page).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  const copies = await page.request.get('/api/v1/working-copies');
  expect(await copies.json()).toMatchObject({ total_count: 0 });
  await dialog.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  const saved = await server.send('GET', `/api/v1/activity?content_type=product&id=slow-kettle&limit=1`);
  expect(saved).toMatchObject({ data: [{ by: { name: ADMIN.name } }] });
});

test('changes only what was edited of a user and a key', async ({ page, server }) => {
  const { id: user } = await createUser(server, 'admin');
  await open(page, `users/${user}`);
  await expect(page.getByLabel(/^Name/)).toHaveValue('admin user');
  await server.send('PUT', `/api/v1/internal/user/${user}`, { role: 'viewer' });
  await page.getByLabel(/^Name/).fill('Vic');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText(/^Saved/)).toBeVisible();
  expect(await server.send('GET', `/api/v1/internal/user/${user}`)).toMatchObject({
    name: 'Vic',
    role: 'viewer',
  });

  const all = [{ ctd: '*', create: true, read: true, update: true, delete: true }];
  const body = { name: 'site', kind: 'scoped', rules: all };
  const key = (await server.send('POST', '/api/v1/internal/key', body)) as { id: string };
  await page.goto('/admin/keys');
  await page.getByRole('button', { name: /^Actions for site/ }).click();
  await page.getByRole('menuitem', { name: 'Change…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel(/^Name/)).toHaveValue('site');
  const rules = [{ ctd: '*', create: false, read: true, update: false, delete: false }];
  await server.send('PUT', `/api/v1/internal/key/${key.id}`, { rules });
  await dialog.getByLabel(/^Name/).fill('shop');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  const keys = (await server.send('GET', '/api/v1/internal/key')) as { data: { id: string }[] };
  expect(keys.data.find(({ id }) => id === key.id)).toMatchObject({ name: 'shop', rules });
});

test('says that a workflow was changed by somebody else before it is replaced', async ({ page, server }) => {
  const review = { id: 'review', name: 'Review', states: ['draft', 'public'] };
  await server.send('POST', '/api/v1/internal/workflow', review);
  await open(page, 'workflows');
  await page.getByRole('button', { name: 'Edit Review' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Name/).first().fill('Checked');
  await server.send('PUT', '/api/v1/internal/workflow/review', {
    ...review,
    states: ['draft', 'legal', 'public'],
  });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Somebody else has changed this workflow');
  await expectAccessible(page);
  const states = async () =>
    ((await server.send('GET', '/api/v1/internal/workflow/review')) as { states: string[] }).states;
  expect(await states()).toEqual(['draft', 'legal', 'public']);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  expect(await states()).toEqual(['draft', 'public']);
});

test('shows nothing of a user to the next one in the same tab', async ({ page, server }) => {
  const ben = await createUser(server, 'editor');
  await open(page, 'c/product');
  await page.getByLabel('Select Roasting day ear muffs').check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 1 object' }).click();
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  await signOut(page);
  await expect(page.getByLabel('E-mail')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await signIn(page, ben);
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await expectAccessible(page);
});

test('continues with an object that somebody else has deleted and restored', async ({ page, server }) => {
  await server.send('POST', '/api/v1/content/author', { id: 'lost', name: 'Lost', role: 'writer' });
  await openForm(page, 'c/author/lost');
  await page.getByLabel('Name').fill('Lost and found');
  await server.send('DELETE', '/api/v1/content/author/lost');
  await expect(page.getByText(/deleted this object/)).toBeVisible();
  const trash = (await server.send('GET', '/api/v1/trash?limit=1')) as { data: { entry: string }[] };
  await server.send('POST', `/api/v1/trash/${trash.data[0]?.entry ?? ''}/restore`);
  await expect(page.getByText(/deleted this object/)).toBeHidden();
  await expect(page.getByLabel('Name')).toHaveValue('Lost and found');
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  expect(await server.stored('author/lost')).toMatchObject({ name: 'Lost and found' });
});

test('has no unsaved work after a reload during a save that was carried out', async ({ page, server }) => {
  await openForm(page, `c/${KETTLE}`);
  await page.getByLabel('Name').fill('Saved before the reload');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await page.route(`**/api/v1/content/${KETTLE}`, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    // The response never arrives.
    await route.fetch();
  });
  await saveButton(page).click();
  await expect.poll(() => server.stored(KETTLE)).toMatchObject({ name: 'Saved before the reload' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  await expect(page.getByText('No changes')).toBeVisible();
  const left = async () => (await page.request.get('/api/v1/working-copies')).json();
  await expect.poll(left).toMatchObject({ total_count: 0 });
});

test('shows the theme of the user who signs in, and rights as soon as the tab is shown again', async ({
  page,
  server,
}) => {
  const ben = await createUser(server, 'viewer');
  await open(page, 'me');
  await page.getByRole('radio', { name: 'Dark' }).check();
  await signOut(page);
  await signIn(page, ben);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'system');
  await page.goto('/admin/c/author/maren');
  await expect(page.getByText(/You can only read/)).toBeVisible();
  await server.send('PUT', `/api/v1/internal/user/${ben.id}`, { role: 'editor' });
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(page.getByText(/You can only read/)).toBeHidden();
  await page.getByLabel('Name').fill('Changed with the new right');
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
});

test('deletes and restores what somebody else has just deleted and restored', async ({ page, server }) => {
  await server.send('POST', '/api/v1/content/author', { id: 'lost', name: 'Lost', role: 'writer' });
  const key = (await server.send('POST', '/api/v1/internal/key', { name: 'site', kind: 'read_only' })) as {
    id: string;
  };
  await withoutLiveUpdates(page);
  await openForm(page, 'c/author/lost');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(/It can be restored from the trash/)).toBeVisible();
  await server.send('DELETE', '/api/v1/content/author/lost');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('Lost is deleted.')).toBeVisible();

  await page.goto('/admin/trash');
  const row = page.getByRole('button', { name: 'Restore: Lost' });
  await expect(row).toBeVisible();
  const trash = (await server.send('GET', '/api/v1/trash?limit=1')) as { data: { entry: string }[] };
  await server.send('POST', `/api/v1/trash/${trash.data[0]?.entry ?? ''}/restore`);
  await row.click();
  await expect(page.getByText('It is no longer in the trash')).toBeVisible();
  await expect(row).toHaveCount(0);

  await page.goto('/admin/keys');
  await page.getByRole('button', { name: /^Actions for site/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await server.send('DELETE', `/api/v1/internal/key/${key.id}`);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('button', { name: /^Actions for site/ })).toHaveCount(0);
});

test('keeps edits of a type that somebody else has deleted', async ({ page, server }) => {
  await open(page, 'types/event?view=settings');
  await page
    .getByLabel(/^Label/)
    .first()
    .fill('Occasion');
  await server.send('POST', '/api/v1/internal/contenttype/event/purge', { deleteSchema: true });
  await expect(page.getByText(/Somebody has deleted this type/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Apply/ }).click();
  await expect(page.getByText(/Somebody has deleted this type/)).toBeHidden();
  expect(await server.send('GET', '/api/v1/internal/contenttype/event')).toMatchObject({ label: 'Occasion' });
});
