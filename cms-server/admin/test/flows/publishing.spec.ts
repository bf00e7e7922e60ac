import type { Page } from '@playwright/test';
import { createSession, expect, expectAccessible, open, test } from '../support';
import type { Server } from '../server';
import { changeType, createType, typeDefinition } from '../types';

/** A type with Draft & Public, or with a workflow; its objects may link to each other. */
async function createNoteType(
  server: Server,
  name: string,
  settings: Record<string, unknown>,
): Promise<void> {
  const properties = {
    title: { inputType: 'text' },
    body: { inputType: 'textarea' },
    related: { inputType: 'datasource', relationContenttype: name, many: true },
  };
  await createType(server, typeDefinition(name, name, properties, settings));
}

const link = (type: string, id: string) => ({ type: 'internal', dataUrl: `/api/v1/content/${type}/${id}` });

/** What readers get: the text of the object, or the status of the response. */
async function seenByReaders(server: Server, path: string): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/content/${path}`, {
    headers: { 'X-AUTH-TOKEN': 'a'.repeat(40), 'x-visibility': 'public' },
  });
  return response.ok ? response.text() : String(response.status);
}

async function more(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name }).click();
}

const panel = (page: Page) => page.getByRole('complementary');

test.describe('Draft & Public', () => {
  test.beforeEach(async ({ page, server }) => {
    await createNoteType(server, 'note', { draftPublic: true });
    await server.send('POST', '/api/v1/content/note', { id: 'other', title: 'Other note' });
    await server.send('POST', '/api/v1/content/note', {
      id: 'first',
      title: 'First note',
      body: 'The boat leaves at ten.',
      related: [link('note', 'other')],
    });
    await open(page, 'c/note/first');
  });

  test('shows what a colleague saved meanwhile before readers get it', async ({ page, server }) => {
    await page.route('**/api/v1/changes*', (route) => route.abort());
    await page.reload();
    const dialog = page.getByRole('dialog');
    for (const body of ['HALF-DONE', 'UNREVIEWED']) {
      const isFirst = body === 'HALF-DONE';
      const saveElsewhere = () => server.send('PATCH', '/api/v1/content/note/first', { body });
      await page.getByRole('textbox', { name: 'Title' }).fill(`A title of mine, ${body.length}`);
      if (!isFirst) await saveElsewhere();
      await page.keyboard.press('Control+Shift+P');
      await expect(dialog).toContainText(isFirst ? 'Readers see it for the first time.' : 'of mine');
      if (isFirst) await saveElsewhere();
      await expect(dialog).not.toContainText(body);
      await dialog.getByRole('button', { name: 'Save and publish' }).click();
      await expect(dialog.getByRole('alert')).toContainText('meanwhile');
      // There is nothing to compare with before the first publication.
      await expect(dialog).toContainText(isFirst ? 'admin changed Body' : body);
      await expectAccessible(page);
      expect(await seenByReaders(server, 'note/first')).not.toContain(body);
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
      await expect(dialog).toBeHidden();
      expect(await seenByReaders(server, 'note/first')).toContain(body);
    }
  });

  test('publishes, edits, compares and unpublishes', async ({ page, server }) => {
    await expect(panel(page)).toContainText('Draft');
    await expect(panel(page)).toContainText('Readers do not see it.');
    await expectAccessible(page);
    await panel(page).getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('Readers see it for the first time.');
    await expect(dialog).toContainText('1 linked object is not public');
    await expect(dialog.getByRole('link', { name: 'Other note' })).toBeVisible();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await expect(panel(page)).toContainText('Readers see this version.');
    expect(await seenByReaders(server, 'note/first')).toContain('leaves at ten');
    expect(await seenByReaders(server, 'note/other')).toBe('404');

    await page.getByRole('textbox', { name: 'Body' }).fill('The ferry leaves at ten.');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await expect(panel(page)).toContainText('Readers see version 1');
    expect(await seenByReaders(server, 'note/first')).toContain('The boat leaves');
    await panel(page).getByRole('button', { name: 'Publish…' }).click();
    await expect(dialog.locator('del')).toContainText('boat');
    await expect(dialog.locator('ins')).toContainText('ferry');
    await expectAccessible(page);
    await dialog.getByRole('checkbox', { name: 'Publish them too' }).check();
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await expect(panel(page)).toContainText('Readers see this version.');
    expect(await seenByReaders(server, 'note/first')).toContain('The ferry leaves');
    expect(await seenByReaders(server, 'note/other')).toContain('Other note');

    await more(page, 'Unpublish');
    await expect(dialog).toContainText('Readers no longer see it');
    await dialog.getByRole('button', { name: 'Unpublish' }).click();
    await expect(panel(page)).toContainText('Readers do not see it.');
    expect(await seenByReaders(server, 'note/first')).toBe('404');
    await page.getByRole('button', { name: 'More actions' }).click();
    await expect(page.getByRole('menuitem', { name: /Archive/ })).toContainText('A draft cannot be archived');
    await expectAccessible(page);
  });

  test('shows the changes for readers after they could not be read at first', async ({ page, server }) => {
    await server.request('POST', '/api/v1/content/note/first/publish');
    await server.request('PATCH', '/api/v1/content/note/first', { title: 'A better title' });
    await page.reload();
    await page.route('**/version/1', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Publish…' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await expect(dialog).toContainText('A better title');
    await expect(dialog.getByRole('alert')).toHaveCount(0);
  });

  test('saves and publishes unsaved changes by keyboard', async ({ page, server }) => {
    await page.getByRole('textbox', { name: 'Title' }).fill('A better title');
    await page.keyboard.press('Control+Shift+P');
    // The second click of a double click does nothing: the action is running.
    await page.getByRole('dialog').getByRole('button', { name: 'Save and publish' }).dblclick();
    await expect(page.getByText('Published.')).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(await seenByReaders(server, 'note/first')).toContain('A better title');
  });

  test('schedules in the zone of the user, warns before an edit, and cancels', async ({ page, server }) => {
    await more(page, 'Schedule…');
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('status')).toContainText(/09:00 in Warsaw, 0[78]:00 UTC/);
    await expectAccessible(page);
    await dialog.getByLabel('Date and time').fill('2020-01-01T09:00');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await expect(dialog.getByText('Choose a time more than 5 minutes ahead.').first()).toBeVisible();
    await dialog.getByLabel('Date and time').fill('2050-07-01T09:00');
    await dialog.getByLabel('Time zone').fill('America/New_York');
    await expect(dialog.getByRole('status')).toContainText('09:00 in New York, 13:00 UTC');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await expect(panel(page)).toContainText('Scheduled');
    await expect(panel(page)).toContainText('1 Jul 2050, 09:00 (America/New_York)');
    const stored = await server.request('GET', '/api/v1/content/note/first');
    expect(await stored.text()).toContain('"scheduledAt":"2050-07-01T13:00:00+00:00"');
    await page.getByRole('textbox', { name: 'Title' }).fill('Another title');
    await expect(page.getByText('Saving a change cancels this schedule.')).toBeVisible();
    await expectAccessible(page);
    await more(page, 'Cancel the schedule');
    await expect(panel(page)).not.toContainText('Scheduled');
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Another title');
  });

  test('says that a schedule ends before an object is deleted, unpublished or archived', async ({
    page,
    server,
  }) => {
    const dialog = page.getByRole('dialog');
    const note = dialog.getByText('is cancelled, and undo does not bring it back.');
    await server.send('POST', '/api/v1/content/note/first/publish');
    await server.request('PATCH', '/api/v1/content/note/first', { body: 'The boat leaves at noon.' });
    const schedule = { scheduledAt: '2050-07-01T09:00', timeZone: 'Europe/Warsaw' };
    await server.send('PUT', '/api/v1/content/note/first/schedule', schedule);
    await expect(panel(page)).toContainText('Scheduled');
    for (const action of ['Delete…', 'Archive', 'Unpublish']) {
      await more(page, action);
      await expect(note).toBeVisible();
      await expect(dialog).toContainText('2050');
      await expectAccessible(page);
      if (action !== 'Unpublish') await page.keyboard.press('Escape');
    }
    await dialog.getByRole('button', { name: 'Unpublish' }).click();
    await expect(panel(page)).not.toContainText('Scheduled');
    await more(page, 'Delete…');
    await expect(dialog.getByText('It can be restored from the trash')).toBeVisible();
    await expect(note).toBeHidden();
  });

  test('shows the links that block a deletion', async ({ page, server }) => {
    await page.goto('/admin/c/note/other');
    await more(page, 'Delete…');
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('link', { name: 'First note' })).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Delete', exact: true })).toBeDisabled();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Used by' }).click();
    await expect(page.getByText('1 object links to it')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'First note' }).click();
    await expect(page.getByRole('heading', { name: 'First note' })).toBeVisible();
    await more(page, 'Delete…');
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page.getByText('First note is deleted.')).toBeVisible();
    expect((await server.request('GET', '/api/v1/content/note/first')).status).toBe(404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(page.getByRole('heading', { name: 'First note' })).toBeVisible();
    expect((await server.request('GET', '/api/v1/content/note/first')).status).toBe(200);
    await expectAccessible(page);
  });

  test('restores a version, and one property of it', async ({ page, server }) => {
    for (const values of [
      { id: 'first', title: 'Second title', body: 'Second body.' },
      { id: 'first', title: 'Third title', body: 'Third body.' },
    ]) {
      await server.send('PUT', '/api/v1/content/note/first', values);
    }
    await page.reload();
    await page.getByRole('link', { name: /Versions/ }).click();
    await expect(page.getByText('Changed: Title, Body').first()).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'Compare from version 1' }).check();
    await page.getByRole('radio', { name: 'Compare to version 3' }).check();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    expect(page.url()).toContain('/compare?from=1&to=3');
    await expect(page.locator('del').first()).toContainText('First note');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore Title of version 1' }).click();
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('First note');
    await expect(page.getByRole('textbox', { name: 'Body' })).toHaveValue('Third body.');
    await expect(page.getByText('Nothing is saved yet.')).toBeVisible();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await expect(page.getByText('Saved as version 4.')).toBeVisible();
    await page.getByRole('link', { name: /Versions/ }).click();
    await page.getByRole('button', { name: 'Restore version 2' }).click();
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Second title');
    await expect(page.getByRole('textbox', { name: 'Body' })).toHaveValue('Second body.');
    await expectAccessible(page);
    await page.getByRole('textbox', { name: 'Title' }).fill('Typed title');
    await page.getByRole('link', { name: /Versions/ }).click();
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('First note');
    await page.getByRole('link', { name: /Versions/ }).click();
    await page.getByRole('button', { name: 'Restore version 3' }).click();
    await expect(page.getByRole('textbox', { name: 'Body' })).toHaveValue('Third body.');
    // Both restores are undone together: the typed text is from before them.
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Typed title');
    const stored = await server.request('GET', '/api/v1/content/note/first');
    expect(await stored.text()).toContain('First note');
  });

  test('keeps the version that is chosen for a comparison when a save adds one', async ({ page, server }) => {
    const save = (title: string) =>
      server.request('PUT', '/api/v1/content/note/first', { id: 'first', title, body: 'Body.' });
    expect((await save('Second title')).status).toBe(200);
    expect((await save('Third title')).status).toBe(200);
    await page.reload();
    await page.getByRole('link', { name: /Versions/ }).click();
    await page.getByRole('radio', { name: 'Compare from version 1' }).check();
    expect((await save('Fourth title')).status).toBe(200);
    await expect(page.getByRole('radio', { name: 'Compare from version 4' })).toBeVisible();
    await expect(page.getByRole('radio', { name: 'Compare from version 1' })).toBeChecked();
    await expect(page.getByRole('radio', { name: 'Compare to version 3' })).toBeChecked();
  });

  test('duplicates an object, and shows its request as commands', async ({ page }) => {
    await panel(page).getByText('Request').click();
    await expect(panel(page).getByLabel('curl')).toHaveValue(/api\/v1\/content\/note\/first/);
    await expectAccessible(page);
    await more(page, 'Duplicate');
    await expect(page.getByText('This is the copy.')).toBeVisible();
    await expect(page).not.toHaveURL(/note\/first/);
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('First note');
  });
});

test('leads from the title to the actions on a phone', async ({ page, server }) => {
  await createNoteType(server, 'report', { workflowId: 'publishing' });
  await server.send('POST', '/api/v1/content/report', { id: 'one', title: 'Report' });
  await page.setViewportSize({ width: 390, height: 500 });
  await open(page, 'c/report/one');
  await expect(page.getByRole('main')).toContainText('State draft');
  const move = panel(page).getByRole('button', { name: 'Move to review' });
  await expect(move).not.toBeInViewport();
  await page.getByRole('button', { name: 'Actions' }).first().click();
  await expect(move).toBeInViewport();
  await page.keyboard.press('Tab');
  await expect(move).toBeFocused();
  await expectAccessible(page);
});

test('moves an object through all states of its workflow', async ({ page, server }) => {
  await createNoteType(server, 'report', { workflowId: 'publishing' });
  await server.send('POST', '/api/v1/content/report', { id: 'one', title: 'Report' });
  await open(page, 'c/report/one');
  const dialog = page.getByRole('dialog');
  for (const state of ['review', 'draft', 'review', 'public', 'archive']) {
    await panel(page)
      .getByRole('button', { name: `Move to ${state}` })
      .click();
    // No transition leads back from these.
    if (state === 'public' || state === 'archive') {
      await expect(dialog).toContainText('This cannot be undone');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: `Move to ${state}` }).click();
    }
    await expect(panel(page).getByText(state, { exact: true })).toBeVisible();
    // Only the newest message is shown: the previous one is no longer true.
    await expect(page.getByText(/The state is now/)).toHaveText(`The state is now ${state}.`);
  }
  await expectAccessible(page);
  await expect(panel(page).getByRole('button', { name: /Move to/ })).toHaveCount(0);
});

test('says that a save is visible, unless the workflow has a state public', async ({ page, server }) => {
  const open = { id: 'open', name: 'Open', initial_state: 'new', states: ['new', 'done'], transitions: [] };
  await server.send('POST', '/api/v1/internal/workflow', open);
  await createNoteType(server, 'note', { workflowId: 'open' });
  await createNoteType(server, 'report', { workflowId: 'publishing' });
  for (const type of ['note', 'report'])
    await server.request('POST', `/api/v1/content/${type}`, { id: 'one', title: 'One' });
  await createSession(page);
  for (const [type, label] of [
    ['note', 'Save, visible immediately'],
    ['report', 'Save'],
  ]) {
    await page.goto(`/admin/c/${type ?? ''}/one`);
    await expect(page.getByRole('button', { name: label ?? '', exact: true })).toBeVisible();
  }
});

test('opens the preview of a draft', async ({ page, server, pageOrigin }) => {
  await createNoteType(server, 'leaf', { draftPublic: true });
  const previewUrl = '/api/v1/content/leaf/{id}?auth_token={token}';
  await changeType(server, 'leaf', ({ metaDefinition }) => (metaDefinition.admin = { previewUrl }));
  await server.send('POST', '/api/v1/content/leaf', { id: 'one', title: 'A hidden leaf' });
  await open(page, 'c/leaf/one');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  const link = page.getByRole('region', { name: 'Preview' }).getByRole('link', { name: 'Open in a new tab' });
  await expect(link).toHaveAttribute('href', /leaf\/one\?auth_token=pv_/);
  const shown = await fetch(
    server.url +
      String(
        new URL((await link.getAttribute('href')) ?? '', pageOrigin).pathname +
          new URL((await link.getAttribute('href')) ?? '', pageOrigin).search,
      ),
  );
  expect(await shown.text()).toContain('A hidden leaf');
  await expectAccessible(page);
});
