// Values that nobody has edited are saved exactly as they were.
import { createSheetType, send } from '../exact';
import { expect, open, test } from '../support';
import { saveButton } from '../writing';

const CUSTOM = '{"n":9007199254740993,"f":1.0,"2":2,"1":1}';

test('saves long numbers and unusual JSON as they were, also from a version and after a reload', async ({
  page,
  server,
}) => {
  await createSheetType(server);
  await send(server, 'POST', 'sheet', `{"id":"one","title":"a","count":9007199254740993,"extra":${CUSTOM}}`);
  await send(server, 'PUT', 'sheet/one', '{"title":"a","count":1}');
  await open(page, 'c/sheet/one?panel=versions');
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await expect(page.getByText('Values of version 1 are in the form.')).toBeVisible();
  await page.getByLabel('Title').fill('b');
  await page.getByLabel('Title').blur();
  await expect(page.getByText(/stored \d/)).toBeAttached();
  await page.reload();
  await expect(page.getByText(/not saved yet/)).toBeVisible();
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 3.')).toBeVisible();
  const saved = await send(server, 'GET', 'sheet/one', '');
  expect(saved).toContain('"count":9007199254740993');
  expect(saved).toContain(CUSTOM);
  await page.getByLabel('Title').fill('c');
  await saveButton(page).click();
  await expect(page.getByText('Saved as version 4.')).toBeVisible();
  expect(await send(server, 'GET', 'sheet/one', '')).toContain(CUSTOM);
});
