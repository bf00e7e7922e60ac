import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, open, test } from '../support';
import { paste } from '../writing';
import type { Server } from '../server';

/** Number of objects to search; CMS_FLOW_OBJECTS=100000 tests more. Fewer are quicker and find the same errors. */
const OBJECTS = Number(process.env.CMS_FLOW_OBJECTS ?? '1000');

/** A field of several controls; the accessible name of a required field says that it is required. */
const group = (page: Page | Locator, name: string) =>
  page.getByRole('group', { name: new RegExp(`^${name}( \\*?\\(required\\))?$`) });

async function save(page: Page, version: number): Promise<void> {
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText(`Saved as version ${String(version)}.`)).toBeVisible();
}

/** Waits until a search finds all of them: the server waits for the index for a second only. */
async function addAuthors(server: Server, count: number): Promise<void> {
  for (let first = 0; first < count; first += 1000) {
    const batch = Array.from({ length: Math.min(1000, count - first) }, (_none, index) => ({
      id: `many-${String(first + index)}`,
      name: `Person ${String(first + index)} of many`,
      role: 'writer',
    }));
    await server.send('POST', '/api/v1/content/author/batch', batch);
  }
  const search = async (): Promise<string> => {
    const response = await server.request('GET', `/api/v1/search?q=${String(count - 1)}`);
    return response.text();
  };
  await expect.poll(search, { timeout: 60_000 }).toContain(`many-${String(count - 1)}`);
}

test('links to one object among very many, creates another in place, and reorders by keyboard', async ({
  page,
  server,
}) => {
  test.setTimeout(600_000);
  await addAuthors(server, OBJECTS);
  const first = await server.stored('event?limit=1&fields[]=id');
  const [event] = first.data as { id: string }[];
  await open(page, `c/event/${event?.id ?? ''}`);
  const hosts = group(page, 'Hosts');
  const search = hosts.getByRole('combobox', { name: 'Hosts: search' });
  await expect(search).toBeVisible();
  const before = await hosts.getByRole('listitem').count();
  await search.fill(`pers ${String(OBJECTS - 1)}`);
  const option = page.getByRole('option', { name: `Person ${String(OBJECTS - 1)} of many` });
  await expect(option).toBeVisible();
  await search.press('Enter');
  await expect(hosts.getByRole('listitem')).toHaveCount(before + 1);
  // The next page of results is read when the end of the list is reached.
  await search.fill('person');
  await expect(page.getByRole('option', { name: /^Person/ })).toHaveCount(20);
  for (let press = 0; press < 19; press += 1) await search.press('ArrowDown');
  await expect(page.getByRole('option', { name: /^Person/ })).toHaveCount(40);
  await expectAccessible(page);

  // Create in place: the typed text becomes the title, and the new object is linked.
  await search.fill('Greta Nord');
  await page.getByRole('option', { name: /New: Author “Greta Nord”/ }).click();
  const sheet = page.getByRole('dialog', { name: /Greta Nord/ });
  await expect(sheet.getByLabel('Name')).toHaveValue('Greta Nord');
  await sheet.getByLabel('Role').selectOption('writer');
  await expectAccessible(page);
  await sheet.getByRole('button', { name: /^Save/ }).click();
  await expect(sheet).toBeHidden();
  await expect(hosts.getByRole('listitem').last()).toContainText('Greta Nord');

  // Alt and arrow up moves the link, and its new position is announced.
  await hosts.getByRole('button', { name: 'Move Greta Nord', exact: true }).press('Alt+ArrowUp');
  await expect(
    hosts.getByText(`Greta Nord is now number ${String(before + 1)} of ${String(before + 2)}.`),
  ).toBeAttached();
  await expect(hosts.getByRole('button', { name: 'Move Greta Nord', exact: true })).toBeFocused();
  await save(page, 2);
  const saved = await server.stored(`event/${event?.id ?? ''}`);
  expect(JSON.stringify(saved.hosts)).toContain('many-');
  await expectAccessible(page);
});

test('edits lists by keyboard: lines, pasted lines, rows, removal with undo', async ({ page, server }) => {
  await open(page, 'c/product/slow-kettle');
  const notes = group(page, 'Tasting notes');
  await notes.getByLabel('Tasting notes, new item').fill('amber');
  await page.keyboard.press('Enter');
  await page.keyboard.type('honey');
  await paste(notes.getByLabel('Tasting notes, new item'), '- fig\n- rye\n- salt');
  await expect(notes.getByRole('textbox')).toHaveCount(6);
  await notes.getByLabel('Tasting notes, item 2').press('Alt+ArrowUp');
  await expect(notes.getByLabel('Tasting notes, item 1')).toHaveValue('honey');

  const brewing = group(page, 'Brewing');
  await brewing.getByRole('button', { name: 'Add to Brewing' }).click();
  await page.keyboard.type('filter');
  await brewing.getByLabel('Grams').fill('18');
  await brewing.getByLabel('Water in millilitres').fill('300');
  await brewing.getByRole('button', { name: 'Move filter', exact: true }).press('Enter');
  await page.getByRole('menuitem', { name: 'Duplicate' }).press('Enter');
  await expect(brewing.getByRole('listitem')).toHaveCount(2);
  await brewing.getByRole('button', { name: 'Remove filter' }).first().click();
  await expect(brewing.getByRole('listitem')).toHaveCount(1);
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
  await expect(brewing.getByRole('listitem')).toHaveCount(2);
  await group(page, 'Sizes').getByLabel('1 kg').check();
  await group(page, 'Sizes').getByLabel('125 g').check();
  await expectAccessible(page);
  await save(page, 2);
  expect(await server.stored('product/slow-kettle')).toMatchObject({
    notes: ['honey', 'amber', 'fig', 'rye', 'salt'],
    brewing: [
      { method: 'filter', grams: 18, water: 300 },
      { method: 'filter', grams: 18, water: 300 },
    ],
    sizes: ['1000', '125'],
  });
});

test('shows validation errors inside the item of a list', async ({ page }) => {
  await open(page, 'c/product/slow-kettle');
  const brewing = group(page, 'Brewing');
  await brewing.getByRole('button', { name: 'Add to Brewing' }).click();
  await brewing.getByLabel('Grams').fill('some');
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(brewing.getByText('The property method is required')).toBeVisible();
  await expect(brewing.getByText('This is not a number.').first()).toBeVisible();
});

test('sets a point by pasting and on the map, never stores only one coordinate', async ({ page, server }) => {
  await open(page, 'c/place/tidemill');
  const place = group(page, 'Location');
  await paste(place.getByLabel('Latitude'), 'geo:52.1,21.0');
  await expect(place.getByLabel('Longitude')).toHaveValue('21');
  await place.getByLabel('Longitude').fill('');
  await expect(place.getByText('A point needs both numbers.')).toBeVisible();
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByRole('alert')).toContainText('A point needs both numbers.');
  await place.getByRole('button', { name: 'Show map' }).click();
  await place.locator('svg').click({ position: { x: 100, y: 50 } });
  await expect(place.getByLabel('Longitude')).not.toHaveValue('');
  await expectAccessible(page);
  await save(page, 2);
  const { location } = await server.stored('place/tidemill');
  expect(location).toMatchObject({ lat: expect.any(Number), lon: expect.any(Number) });
});

test('translates an object, language by language', async ({ page, server }) => {
  const about = (await server.stored('about?limit=1')).data as { id: string }[];
  await open(page, `c/about/${about[0]?.id ?? ''}`);
  const tabs = page.getByRole('navigation', { name: 'Parts of this object' });
  await tabs.getByRole('link', { name: 'Translations' }).click();
  const translations = group(page, 'Translations');
  await translations.getByRole('combobox', { name: 'Add a language' }).fill('germ');
  await translations.getByRole('combobox', { name: 'Add a language' }).press('Enter');
  const panel = translations.getByRole('tabpanel');
  await panel.getByRole('button', { name: 'Copy Name from the original' }).click();
  await expect(panel.getByRole('textbox', { name: 'Name' })).not.toHaveValue('');
  await panel.getByRole('textbox', { name: 'Name' }).fill('Über uns');
  await expectAccessible(page);
  await save(page, 2);
  const saved = await server.stored(`about/${about[0]?.id ?? ''}`);
  expect(saved.__translations).toContainEqual(
    expect.objectContaining({ __language: 'de', name: 'Über uns' }),
  );
});

test('suggests the slug of the server, and warns before a public address changes', async ({
  page,
  server,
}) => {
  await open(page, 'c/author/+new');
  await page.getByLabel('Name').fill('Zoë Ångström-Łuk');
  await expect(page.getByLabel('Slug')).toHaveAttribute('placeholder', 'zoe-angstrom-luk');
  await page.getByLabel('Role').selectOption('writer');
  await save(page, 1);
  await expect(page.getByLabel('Slug')).toHaveValue('zoe-angstrom-luk');
  await page.getByLabel('Slug').fill('zoe');
  await expect(
    page.getByText('The public address changes: links to “zoe-angstrom-luk” stop working.'),
  ).toBeVisible();
  expect(JSON.stringify(await server.stored('author?limit=1000&fields[]=slug'))).toContain(
    'zoe-angstrom-luk',
  );
});
