// Lists of management: the order of users, authors in the activity, schedules, and what an empty list says.
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';
import type { Server } from '../server';
import { enableDraftPublic } from '../types';

/** Creates draft authors with a scheduled publication. */
async function createScheduledAuthors(server: Server): Promise<void> {
  await enableDraftPublic(server, 'author');
  for (const [id, scheduledAt] of [
    ['later', '2050-07-01T09:00'],
    ['latest', '2050-07-01T10:00'],
  ]) {
    await server.send('POST', '/api/v1/content/author', {
      id,
      name: `The ${id}`,
      role: 'writer',
    });
    const path = `/api/v1/content/author/${String(id)}/schedule`;
    await server.send('PUT', path, { scheduledAt, timeZone: 'Europe/Warsaw' });
  }
}

const scheduleOf = async (server: Server, id: string): Promise<string | undefined> => {
  const object = (await server.send('GET', `/api/v1/content/author/${id}`)) as {
    internal: { scheduledAt?: string };
  };
  return object.internal.scheduledAt;
};

test('sorts users by their columns, also on a phone', async ({ page, server }) => {
  await createUser(server, 'viewer', { name: 'Aaron' });
  await createUser(server, 'editor', { name: 'Zoe' });
  await open(page, 'users');
  const names = page.locator('tbody td.name a');
  await expect(names).toHaveText(['Aaron', 'ada', 'Zoe']);
  await page.getByRole('button', { name: 'Role' }).click();
  await expect(names).toHaveText(['ada', 'Zoe', 'Aaron']);
  await expect(page.getByRole('columnheader', { name: 'Role' })).toHaveAttribute('aria-sort', 'ascending');
  await page.getByRole('button', { name: 'Role' }).click();
  await expect(names).toHaveText(['Aaron', 'Zoe', 'ada']);
  await page.getByRole('button', { name: 'E-mail' }).click();
  await expect(names).toHaveText(['ada', 'Zoe', 'Aaron']);
  await page.reload();
  await expect(names).toHaveText(['ada', 'Zoe', 'Aaron']);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByLabel('Order').selectOption('-lastSeenAt');
  await expect(names).toHaveText(['ada', 'Zoe', 'Aaron']);
  await expectAccessible(page);
});

test('finds a user and a key without a shown change', async ({ page, server }) => {
  await createUser(server, 'editor', { name: 'Ben Holt' });
  await open(page, 'activity');
  const who = page.getByRole('combobox', { name: 'Who' });
  await who.fill('holt');
  await expect(page.getByRole('listbox').getByRole('option')).toHaveCount(1);
  await expectAccessible(page);
  await page.getByRole('option', { name: /Ben Holt/ }).click();
  await expect(page.getByText('No change matches these filters.')).toBeVisible();
  await expect(page.getByText(/^cms activity --by [0-9a-f-]{36}$/)).toBeVisible();
  await expect(who).toHaveValue('By Ben Holt');
  await page.reload();
  await expect(who).toHaveValue('By Ben Holt');
  // Typing replaces the chosen name.
  await who.click();
  await page.keyboard.type('read-only');
  await page.getByRole('option', { name: /read-only/ }).click();
  await expect(page.getByText('No change matches these filters.')).toBeVisible();
  await who.click();
  await page.getByRole('option', { name: 'By anyone' }).click();
  await expect(page.getByRole('listitem').or(page.locator('tbody tr')).first()).toBeVisible();
  expect(new URL(page.url()).searchParams.get('by')).toBeNull();
});

test('moves and cancels a publication from the schedule, and undoes both', async ({ page, server }) => {
  await createScheduledAuthors(server);
  await open(page, 'schedule');
  await page.getByRole('button', { name: 'Change the time of “The later”' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Date and time')).toHaveValue('2050-07-01T09:00');
  await expect(dialog.getByLabel('Time zone')).toHaveValue('Europe/Warsaw');
  await expectAccessible(page);
  await dialog.getByLabel('Date and time').fill('2050-07-02T10:00');
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await expect(page.getByText('“The later” is rescheduled.')).toBeVisible();
  expect(await scheduleOf(server, 'later')).toBe('2050-07-02T08:00:00+00:00');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone.')).toBeVisible();
  expect(await scheduleOf(server, 'later')).toBe('2050-07-01T07:00:00+00:00');

  await page.getByRole('button', { name: 'Cancel the schedule of “The later”' }).click();
  await expect(page.getByText('“The later” is no longer scheduled.')).toBeVisible();
  await expect(page.getByRole('link', { name: 'The later' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'The latest' })).toBeFocused();
  expect(await scheduleOf(server, 'later')).toBeUndefined();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('link', { name: 'The later', exact: true })).toBeVisible();
  expect(await scheduleOf(server, 'later')).toBe('2050-07-01T07:00:00+00:00');
});

test('changes no schedule that somebody else has changed', async ({ page, server }) => {
  await createScheduledAuthors(server);
  await open(page, 'schedule');
  await page.getByRole('button', { name: 'Change the time of “The later”' }).click();
  const dialog = page.getByRole('dialog');
  const other = { scheduledAt: '2055-01-01T09:00', timeZone: 'UTC' };
  await server.request('PUT', '/api/v1/content/author/later/schedule', other);
  await dialog.getByLabel('Date and time').fill('2050-07-02T10:00');
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await expect(dialog.getByText(/Somebody has changed this object or its schedule/)).toBeVisible();
  expect(await scheduleOf(server, 'later')).toBe('2055-01-01T09:00:00+00:00');
});

test('changes no schedule without the right to publish', async ({ page, server }) => {
  await createScheduledAuthors(server);
  const user = await createUser(server, 'author');
  await createSession(page, user);
  await page.goto('/admin/schedule');
  await expect(page.getByRole('link', { name: 'The later' })).toBeVisible();
  await expect(page.getByRole('button', { name: /schedule of|time of/ })).toHaveCount(0);
});

test('says which right is missing for the schedule', async ({ page, server }) => {
  await createScheduledAuthors(server);
  const rule = { ctd: 'product', create: false, read: true, update: false, delete: false };
  const user = await createUser(server, 'custom', { rules: [rule] });
  await createSession(page, user);
  await page.goto('/admin/schedule');
  await expect(page.getByText('You may not see this.')).toBeVisible();
  await expect(page.getByText('Nothing is scheduled', { exact: false })).toHaveCount(0);
  await expectAccessible(page);
});

test('names the command beside an empty list', async ({ page, server }) => {
  await enableDraftPublic(server, 'author');
  await open(page, 'schedule?type=author');
  await expect(
    page.getByText(/^cms schedule set author ID --at \d{4}-\d\d-\d\dT09:00 --zone \S+$/),
  ).toBeVisible();
  await page.goto('/admin/search?q=zzzunknown&type=post');
  await expect(page.getByText(/^cms search .*zzzunknown.* --preview --type post$/)).toBeVisible();
  await page.goto('/admin/activity?action=archive&type=post');
  await expect(page.getByText('cms activity --type post --action archive')).toBeVisible();
  await expectAccessible(page);
});
