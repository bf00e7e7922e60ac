// Changes under an open form: properties, rights, users, forbidden storage; forms with tabs and of single objects.
import { createSession, createUser, expect, expectAccessible, open, signIn, test } from '../support';
import type { Server } from '../server';
import { changeType } from '../types';
import { openForm, saveButton, withoutLiveUpdates } from '../writing';

test('keeps what was typed in a property that the type loses', async ({ page, server }) => {
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Bio').fill('Typed before the type changed.');
  await page.getByLabel('Name').fill('Maren the second');
  await changeType(server, 'author', (type) => {
    delete type.schemaDefinition.allOf[1]?.properties?.bio;
    delete type.metaDefinition.propertiesConfig.bio;
    type.metaDefinition.order = type.metaDefinition.order.filter((name) => name !== 'bio');
  });
  await expect(page.getByText(/bio no longer exist/)).toBeVisible();
  await expect(page.getByLabel('bio', { exact: true })).toHaveValue('Typed before the type changed.');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove these values' }).click();
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version/)).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Maren the second');
});

/** Renames the property `bio` of authors. */
function renameBio(server: Server): Promise<void> {
  return changeType(server, 'author', ({ schemaDefinition, metaDefinition }) => {
    const [, { properties = {} } = {}] = schemaDefinition.allOf;
    const { propertiesConfig: configs } = metaDefinition;
    properties.story = properties.bio;
    configs.story = { ...configs.bio, label: 'Story', renamedFrom: 'bio' };
    delete properties.bio;
    delete configs.bio;
    metaDefinition.order = metaDefinition.order.map((name) => (name === 'bio' ? 'story' : name));
  });
}

test('continues in a property that was renamed', async ({ page, server }) => {
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Bio').fill('Typed before the rename.');
  await renameBio(server);
  await expect(page.getByLabel('Story')).toHaveValue('Typed before the rename.');
  await expect(page.getByText(/no longer exist|Somebody else|converted/)).toHaveCount(0);
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version 3/)).toBeVisible();
  expect(await server.stored('author/maren')).toMatchObject({ story: 'Typed before the rename.' });
  // The first version has the old name.
  await page.goto('/admin/c/author/maren/compare?from=1&to=3');
  await expect(page.locator('del', { hasText: 'Was born over' })).toBeVisible();
  await expect(page.locator('ins', { hasText: 'Typed before' })).toBeVisible();
  await expect(page.getByText('bio', { exact: true })).toHaveCount(0);
});

test('saves into a renamed property before the page has noticed', async ({ page, server }) => {
  await withoutLiveUpdates(page);
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Bio').fill('Typed before the rename.');
  await renameBio(server);
  await saveButton(page).click();
  await expect(page.getByText(/Saved as version 3/)).toBeVisible();
  await expect(page.getByLabel('Story')).toHaveValue('Typed before the rename.');
  expect(await server.stored('author/maren')).toMatchObject({ story: 'Typed before the rename.' });
});

test('finds unsaved work in a property that was renamed meanwhile', async ({ page, server }) => {
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Bio').fill('Typed before the rename.');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await page.goto('/admin');
  await renameBio(server);
  await openForm(page, 'c/author/maren');
  await expect(page.getByText(/Your changes from .*, not saved yet/)).toBeVisible();
  await expect(page.getByLabel('Story')).toHaveValue('Typed before the rename.');
  await expectAccessible(page);
});

test('names the missing right when a role changes under the form', async ({ page, server }) => {
  const user = await createUser(server, 'editor');
  await createSession(page, user);
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Name').fill('Not mine any more');
  await server.send('PUT', `/api/v1/internal/user/${user.id}`, { role: 'viewer' });
  await saveButton(page).click();
  await expect(page.getByText(/You do not have the right to change Author objects/)).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Not mine any more');
  await expectAccessible(page);
});

test('stores on the server when the browser forbids storing, and asks when nothing can store', async ({
  page,
}) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'indexedDB', {
      get: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    });
  });
  await openForm(page, 'c/author/maren');
  await page.getByLabel('Name').fill('Only on the server');
  await expect(page.getByText(/This browser does not store your text/)).toBeVisible();
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByLabel('Name')).toHaveValue('Only on the server');
  await page.route('**/working-copy', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await page.getByLabel('Name').fill('Nowhere');
  await expect(page.getByText(/could be stored neither in this browser nor on the server/)).toBeVisible();
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('link', { name: 'Home' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('Nowhere');
  expect(asked).toEqual([expect.stringContaining('could not be stored')]);
  page.removeAllListeners('dialog');
});

test('reloads for another user, and keeps the work of the first', async ({ page, context, server }) => {
  const ben = await createUser(server, 'editor');
  await openForm(page, 'c/author/maren');
  await page.route('**/working-copy', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await page.getByLabel('Name').fill('Text of Ada');
  await expect(page.getByText(/1 change, stored/)).toBeVisible();
  await context.clearCookies();
  // Another request of the page may have opened the dialog before.
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('E-mail').fill(ben.email);
  await dialog.getByLabel('Password', { exact: true }).fill(ben.password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('button', { name: 'editor user' })).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Maren Holloway');
  await context.clearCookies();
  await page.reload();
  await signIn(page);
  await expect(page.getByLabel('Name')).toHaveValue('Text of Ada');
  await expect(page.getByText(/not saved yet/)).toBeVisible();
});

test('shows tabs, conditional fields and the place of an error behind a tab', async ({ page, server }) => {
  await changeType(server, 'author', (type) => {
    type.metaDefinition.admin = {
      tabs: [
        { label: 'Person', properties: ['name', 'slug', 'role', 'email'] },
        { label: 'Story', properties: ['bio', 'languages', 'joined'] },
      ],
    };
    const { bio, slug, email } = type.metaDefinition.propertiesConfig;
    if (bio) bio.admin = { showIf: { property: 'role', equals: 'writer' } };
    if (slug) slug.admin = { width: 'half' };
    if (email) email.admin = { width: 'half' };
  });
  await openForm(page, 'c/author/maren');
  // Properties that no tab names come first.
  await expect(page.getByRole('tab', { name: 'General' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Person' }).click();
  await page.getByRole('combobox', { name: /Role/ }).selectOption('buyer');
  await page.getByRole('tab', { name: 'Story' }).click();
  await expect(page.getByLabel('Bio')).toBeHidden();
  await page.getByRole('tab', { name: 'Person' }).click();
  await page.getByRole('combobox', { name: /Role/ }).selectOption('writer');
  await page.getByLabel('Slug').fill('not a slug');
  await page.getByRole('tab', { name: 'Story' }).click();
  await expect(page.getByLabel('Bio')).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('tab', { name: 'Person' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByLabel('Slug')).toBeFocused();
  await expectAccessible(page);
});

test('opens a type with a single object directly', async ({ page, server }) => {
  await changeType(server, 'about', (type) => {
    type.metaDefinition.admin = { single: true };
  });
  await open(page, 'c/about');
  await expect(page).toHaveURL(/\/c\/about\/(new|[^/]+)/);
  await expect(saveButton(page)).toBeVisible();
});
