// What controls do with stored values: line breaks, long lists of links, many options, text that is no number.
import { expect, expectAccessible, test } from '../support';
import { createType, typeDefinition } from '../types';
import { openForm, saveButton } from '../writing';
import type { Server } from '../server';

async function createCardType(server: Server): Promise<void> {
  const options = Array.from({ length: 20 }, (_none, index) => `Option ${String(index)}`);
  const card = typeDefinition('card', 'Card', {
    title: { inputType: 'text' },
    kind: { inputType: 'select', options },
    count: { inputType: 'number' },
    links: { inputType: 'datasource', relationContenttype: 'author', many: true },
  });
  await createType(server, card);
}

test('keeps line breaks, finds one of many options, and explains wrong numbers', async ({ page, server }) => {
  await createCardType(server);
  await server.request('POST', '/api/v1/content/card', { id: 'one', title: 'first\nsecond', count: 1 });
  await openForm(page, 'c/card/one');
  const title = page.getByRole('textbox', { name: 'Title' });
  await expect(title).toHaveValue('first\nsecond');
  await title.press('Control+End');
  await title.pressSequentially('!');
  await page.getByRole('combobox', { name: 'Kind' }).fill('option 17');
  await page.keyboard.press('Enter');
  const count = page.getByRole('textbox', { name: 'Count' });
  await count.fill('1.5');
  await saveButton(page).click();
  await expect(page.getByRole('alert')).toContainText('Use a whole number.');
  await expect(count).toBeFocused();
  await expectAccessible(page);
  await count.fill('2');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  expect(await server.stored('card/one')).toMatchObject({
    title: 'first\nsecond!',
    kind: 'Option 17',
    count: 2,
  });
});

test('shows the search and a part of 1,000 links', async ({ page, server }) => {
  await createCardType(server);
  const ids = Array.from({ length: 1000 }, (_none, index) => `many-${String(index)}`);
  const authors = ids.map((id) => ({ id, name: `Person ${id}`, role: 'writer' }));
  await server.send('POST', '/api/v1/content/author/batch', authors);
  const links = ids.map((id) => ({ type: 'internal', dataUrl: `/api/v1/content/author/${id}` }));
  await server.send('POST', '/api/v1/content/card', { id: 'many', title: 'Many', links });
  const read: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/content/author')) read.push(request.url());
  });
  await openForm(page, 'c/card/many');
  const list = page.getByRole('group', { name: 'Links' });
  await expect(list.getByText('Person many-0', { exact: true })).toBeVisible();
  await expect(list.getByRole('listitem')).toHaveCount(50);
  await expect(list.getByText('950 more')).toBeVisible();
  expect(read).toHaveLength(1);
  expect(await page.locator('*').count()).toBeLessThan(3000);
  await page.getByRole('textbox', { name: 'Title' }).press('Tab');
  await list.getByRole('button', { name: 'To the last' }).click();
  await expect(list.getByText('Person many-999', { exact: true })).toBeVisible();
  await list.getByRole('button', { name: 'Remove Person many-999' }).click();
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  expect((await server.stored('card/many')).links).toHaveLength(999);
  await expectAccessible(page);
});

test('refuses to save or publish a part of a date, and offers to undo a reset', async ({ page, server }) => {
  const day = typeDefinition('day', 'Day', {
    title: { inputType: 'text' },
    due: { inputType: 'dateTime' },
  });
  await createType(server, { ...day, draftPublic: true });
  await server.request('POST', '/api/v1/content/day', { id: 'one', title: 'One' });
  await openForm(page, 'c/day/one');
  const title = page.getByRole('textbox', { name: 'Title' });
  await title.fill('Two');
  const due = page.getByLabel('Due');
  await due.pressSequentially('0510');
  await title.focus();
  await saveButton(page).click();
  await expect(due).toBeFocused();
  await expect(due).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Publish…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save and publish' }).click();
  await expect(page.getByRole('alert').getByText('A date is incomplete.')).toBeVisible();
  await page.waitForTimeout(500);
  expect(await server.stored('day/one')).toMatchObject({ title: 'One', internal: { status: 'draft' } });
  await due.fill('2026-05-10');
  await page.getByRole('button', { name: 'Reset Title to the stored value' }).click();
  await expect(title).toHaveValue('One');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(title).toHaveValue('Two');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  expect(await server.stored('day/one')).toMatchObject({ title: 'Two', due: '2026-05-10' });
});
