// What administrators and developers do: keys, webhooks, workflows, the system, the API console.
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';
import { openScreen } from '../screens';

test('creates a key, changes it, rotates it and revokes it; programs notice each', async ({
  page,
  server,
}) => {
  const statusOf = async (token: string, method = 'GET') =>
    (
      await fetch(`${server.url}/api/v1/content/post`, {
        method,
        headers: { 'X-AUTH-TOKEN': token, 'Content-Type': 'application/json' },
        ...(method === 'POST' && { body: '{}' }),
      })
    ).status;
  const token = async () => {
    const value = await page.getByLabel('Token', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    return value;
  };
  const act = async (action: string) => {
    await page.getByRole('button', { name: /^Actions for site/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };

  await open(page, 'keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Name/).fill('site');
  await dialog.getByRole('button', { name: 'Clear' }).click();
  await dialog.getByRole('checkbox', { name: 'Post: Read' }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(page.getByText('it is shown only this once')).toBeVisible();
  await expectAccessible(page);
  // A second Escape in a row closes a dialog in browsers, even if its component prevents the first one.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  // Leaving would lose the token: the page asks.
  const asked = page.waitForEvent('dialog');
  await page.evaluate(() => history.back());
  await (await asked).dismiss();
  const first = await token();
  expect(await statusOf(first)).toBe(200);
  expect(await statusOf(first, 'POST')).toBe(403);
  await expect(page.getByText('Post: Read')).toBeVisible();
  await expectAccessible(page);

  await act('Change…');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^All but delete/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('All types: Read, Create, Update')).toBeVisible();
  expect(await statusOf(first, 'POST')).toBe(400);

  await act('Rotate…');
  await page.getByLabel('The old token works').selectOption('for 1 hour');
  await page.getByRole('button', { name: 'Create new token' }).click();
  await expect(page.getByRole('dialog').getByText(/The previous token works until/)).toBeVisible();
  const second = await token();
  expect(second).not.toBe(first);
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);

  await act('Revoke…');
  await expect(page.getByText(/^(Last use: |No use is recorded)/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('site is revoked.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Actions for site' })).toHaveCount(0);
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 401]);
});

test('rebuilds the index with progress, and checks data integrity', async ({ page }) => {
  await open(page, 'system');
  await expect(page.getByText('All parts are ready.')).toBeVisible();
  await expect(page.getByText('Free disk space')).toBeVisible();
  const memory = page.getByRole('img', { name: /^[\d.]+ .?B to [\d.]+ .?B in the last minute$/ });
  await expect(memory).toBeVisible({ timeout: 30_000 });
  await page.getByText('Routes by time').click();
  await expect(page.getByRole('row', { name: /GET \/api/ }).first()).toBeVisible();
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await expect(page.getByRole('listitem').getByText('All types · Done')).toBeVisible();
  await expect(page.getByText(/\d+ of \d+ objects/)).toBeVisible();
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(page.getByText(/No inconsistency found\. \d+ files\./)).toBeVisible();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download a backup' }).click();
  expect((await download).suggestedFilename()).toContain('.tar');
  await expectAccessible(page);
});

test('sends a request from the console, and shows it as commands', async ({ page }) => {
  await open(page, 'api');
  await page.getByLabel('contentType').fill('post');
  await page.getByLabel('limit').fill('2');
  await expect(page.getByLabel('curl')).toHaveValue(/\/api\/v1\/content\/post\?limit=2/);
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Response' }).last()).toContainText('"total_count"');
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByLabel('contentType')).toHaveValue('post');

  const operation = page.getByRole('combobox', { name: 'Operation' });
  await operation.fill('create a key');
  await page.getByRole('option', { name: /Create a key/ }).click();
  await page.getByRole('button', { name: 'Send POST' }).click();
  await expect(page.getByText('Status 400')).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('tab', { name: 'GraphQL' }).click();
  await page.getByRole('button', { name: 'Run query' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
  await page.getByLabel('Find in the schema').fill('type post ');
  await expect(page.getByRole('region', { name: 'Schema' }).last()).toContainText('type post {');
  await expectAccessible(page);
});

test('creates a workflow, and names the line of a validation error', async ({ page }) => {
  await open(page, 'workflows');
  await expect(page.getByRole('heading', { name: /publishing/ })).toBeVisible();
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: 'JSON' }).click();
  const editor = page.getByRole('textbox', { name: 'Definition' });
  const edit = async (text: string) => {
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  };
  await edit(
    '{"id": "legal", "name": "Legal", "states": ["draft"], "transitions": [{"froms": ["x"], "tos": ["draft"]}]}',
  );
  await expect(page.getByRole('alert')).toContainText('transitions[0].froms');
  await expect(page.getByRole('alert')).toContainText('Line 9');
  await expectAccessible(page);
  await edit(
    '{"id": "legal", "name": "Legal", "states": ["draft", "public"], "transitions": [{"froms": ["draft"], "tos": ["public"]}]}',
  );
  await expect(page.getByRole('heading', { name: /^Legal/ })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Delete Legal…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('Legal is deleted.')).toBeVisible();
});

test('edits states and transitions in a form, by keyboard', async ({ page, server }) => {
  await open(page, 'workflows');
  await page.getByRole('button', { name: 'New workflow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Legal review');
  await expect(dialog.getByLabel(/^Id/)).toHaveValue('legal_review');
  await dialog.getByLabel('State 1', { exact: true }).fill('idea');
  await expect(dialog.getByRole('img')).toHaveAccessibleName(/idea → review/);
  await dialog.getByRole('button', { name: '+ Add state' }).click();
  await expect(dialog.getByLabel('State 4', { exact: true })).toBeFocused();
  await page.keyboard.type('archive');
  // The new state goes before the last one; its transition follows.
  await page.keyboard.press('Alt+ArrowUp');
  await expect(dialog.getByLabel('State 3', { exact: true })).toHaveValue('archive');
  await dialog.getByRole('button', { name: '+ Add transition' }).click();
  await expect(dialog.getByLabel('From, transition 5')).toBeFocused();
  await dialog.getByLabel('From, transition 5').selectOption('archive');
  await dialog.getByLabel('To, transition 5').selectOption('idea');
  await dialog.getByRole('button', { name: 'Remove review → idea' }).click();
  await expectAccessible(page);
  await dialog.getByRole('tab', { name: 'JSON' }).click();
  await expect(dialog.getByRole('textbox', { name: 'Definition' })).toContainText('legal_review');
  await dialog.getByRole('tab', { name: 'Form' }).click();
  await dialog.getByLabel('State 2', { exact: true }).fill('two words');
  await dialog.getByRole('button', { name: 'Save' }).click();
  // The row has the message and the focus.
  await expect(dialog.getByLabel('State 2', { exact: true })).toBeFocused();
  await expect(dialog.getByLabel('State 2', { exact: true })).toHaveAccessibleDescription(/not valid/);
  await expectAccessible(page);
  await dialog.getByLabel('State 2', { exact: true }).fill('lawyers');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Legal review is saved.')).toBeVisible();
  const stored = await server.request('GET', '/api/v1/internal/workflow/legal_review');
  expect(await stored.json()).toMatchObject({
    initial_state: 'idea',
    states: ['idea', 'lawyers', 'archive', 'public'],
    transitions: [
      { name: '_idea_lawyers' },
      { name: '_lawyers_public' },
      { name: '_public_archive' },
      { name: '_archive_idea' },
    ],
  });
  await page.getByRole('button', { name: 'Edit Legal review' }).click();
  await expect(dialog.getByLabel(/^Id/)).not.toBeEditable();
  await expectAccessible(page);
});

test('opens the console with the request of the open screen', async ({ page }) => {
  await open(page, 'c/post/the-ten-oclock-boat');
  await page
    .getByRole('navigation', { name: 'Navigation' })
    .getByRole('link', { name: 'API', exact: true })
    .click();
  await expect(page.getByLabel('contentType')).toHaveValue('post');
  await expect(page.getByLabel(/^id/)).toHaveValue('the-ten-oclock-boat');
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
  await page.getByRole('tab', { name: 'GraphQL' }).click();
  await page.getByRole('button', { name: 'Run query' }).click();
  await expect(page.getByRole('region', { name: 'Response' }).last()).toContainText('"title"');
  await expect(page.getByRole('region', { name: 'Schema' }).last()).toContainText('type post {');
  await page.goto('/admin/c/product?order=-price');
  await page
    .getByRole('navigation', { name: 'Navigation' })
    .getByRole('link', { name: 'API', exact: true })
    .click();
  await expect(page.getByLabel('order_by')).toHaveValue('price');
  await expectAccessible(page);
  await page.goto('/admin/c/product?filters={"internal.updatedAt":{"type":"lastDays","filter":7}}');
  await page
    .getByRole('navigation', { name: 'Navigation' })
    .getByRole('link', { name: 'API', exact: true })
    .click();
  await expect(page.getByLabel('filters')).toHaveValue(/"greaterThanOrEqual"/);
  await page.getByRole('button', { name: 'Send GET' }).click();
  await expect(page.getByText('Status 200')).toBeVisible();
});

test('says which right is missing to everybody but administrators', async ({ page, server }) => {
  await createSession(page, await createUser(server, 'editor'));
  for (const path of ['keys', 'webhooks', 'workflows', 'system', 'users/some-id']) {
    await openScreen(page, path);
    await expect(page.getByText('Missing right: Admin')).toBeVisible();
  }
  await expectAccessible(page);
  await page.goto('/admin/api');
  await expect(page.getByRole('button', { name: 'Send GET' })).toBeVisible();
});
