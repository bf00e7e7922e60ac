import { expect, expectAccessible, open, test } from '../support';

test('activity says that there are changes, and shows them when asked', async ({ page, server }) => {
  await open(page, 'activity');
  const rows = page.getByRole('main').getByRole('listitem');
  await expect(rows.first()).toBeVisible();
  const author = { id: 'late', name: 'Late Arrival', role: 'writer' };
  await server.send('POST', '/api/v1/content/author', author);
  await expect(page.getByText('1 new change', { exact: true })).toBeVisible();
  await expect(rows.first()).not.toContainText('Late Arrival');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(rows.first()).toContainText('Late Arrival');
});
