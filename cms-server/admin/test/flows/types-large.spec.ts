// A type change over many objects: 2,000 by default; CMS_FLOW_OBJECTS sets another multiple of 10. Nothing is lost, and a colleague
// continues writing.
import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { createSession, createUser, expect, expectAccessible, open, test } from '../support';
import { apply, createType, plan, property } from '../types';

const OBJECTS = Number(process.env.CMS_FLOW_OBJECTS ?? 2000);
const BATCH = 1000;
const TENTHS = OBJECTS / 10;

test.use({ options: { content: false }, viewport: { width: 1280, height: 1800 } });
test.setTimeout(60_000 + OBJECTS * 4);

const words = new Intl.NumberFormat('en-GB');
const idOf = (index: number) => `article-${String(index).padStart(6, '0')}`;

/** What each object is before the change. */
const before = (index: number) => ({
  id: idOf(index),
  name: `Article number ${String(index)}`,
  price: index / 10,
  sold: String(index),
  body: `Words of number ${String(index % 977)}. `.repeat(8),
  ...(index % 10 === 0 ? { roast: 'dark' } : {}),
});

/** What each object has to be after the change. */
const after = (index: number) => ({
  title: `Article number ${String(index)}`,
  price: String(index / 10),
  sold: index,
  body: before(index).body,
  stock: 7,
});

async function fill(server: Server): Promise<void> {
  const properties = {
    name: { type: 'string' },
    price: { type: 'number' },
    sold: { type: 'string' },
    body: { type: 'string' },
    roast: { type: 'string' },
  };
  const config = (label: string, inputType: string, more = {}) => ({
    label,
    inputType,
    unique: false,
    ...more,
  });
  const type = {
    name: 'article',
    label: 'Article',
    schemaDefinition: {
      type: 'object',
      allOf: [
        { $ref: '#/components/schemas/AbstractContentTypeSchemaDefinition' },
        { type: 'object', properties },
      ],
      required: ['name'],
      additionalProperties: false,
    },
    metaDefinition: {
      order: Object.keys(properties),
      propertiesConfig: {
        name: config('Name', 'text', { isTitlePart: true }),
        price: config('Price', 'number'),
        sold: config('Sold', 'text'),
        body: config('Body', 'textarea'),
        roast: config('Roast', 'text'),
      },
    },
  };
  await createType(server, type);
  for (let first = 0; first < OBJECTS; first += BATCH) {
    const objects = Array.from({ length: Math.min(BATCH, OBJECTS - first) }, (_, index) =>
      before(first + index),
    );
    await server.send('POST', '/api/v1/content/article/batch', objects);
  }
}

/** Every stored object, in the order of the ids. */
async function readAll(server: Server): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let page = 1; all.length < OBJECTS; page += 1) {
    const query = `limit=${String(BATCH)}&page=${String(page)}&order_by=id&order_direction=asc`;
    const response = await server.request('GET', `/api/v1/content/article?${query}`);
    const { data } = (await response.json()) as { data: Record<string, unknown>[] };
    if (data.length === 0) break;
    all.push(...data);
  }
  return all;
}

async function change(page: Page): Promise<void> {
  await property(page, /^Name name/).click();
  await page.getByLabel('Name in the API').fill('title');
  await property(page, /^Price/).click();
  await page.getByLabel('Kind', { exact: true }).selectOption('text');
  await property(page, /^Sold/).click();
  await page.getByLabel('Kind', { exact: true }).selectOption('integer');
  await page.getByRole('button', { name: 'Remove Roast' }).click();
  await page.getByRole('button', { name: '+ Add property' }).click();
  await page
    .getByRole('option', { name: /^Number / })
    .first()
    .click();
  await page.getByLabel('Label').fill('Stock');
  await page.getByLabel('Name in the API').fill('stock');
  await page.getByLabel('Required', { exact: true }).check();
}

test('converts many objects while a colleague writes, and loses nothing', async ({
  page,
  server,

  browser,
}) => {
  const took: Record<string, number> = { objects: OBJECTS };
  const measured = async (name: string, step: () => Promise<void>) => {
    const start = Date.now();
    await step();
    took[name] = Date.now() - start;
  };
  await fill(server);
  const ben = await createUser(server, 'editor');
  await open(page, 'types/article');

  const context = await browser.newContext();
  const other = await context.newPage();
  await createSession(other, ben);
  await other.goto(`/admin/c/article/${idOf(1)}`);
  await other.getByLabel('Body').fill('Written while the type changes.');

  await change(page);
  const all = words.format(OBJECTS);
  await measured('plan', () => expect(plan(page)).toContainText(`${all} fail`, { timeout: 60_000 }));
  await expect(plan(page)).toContainText('renamed from name');
  await plan(page).getByLabel('Value for objects without Stock').fill('7');
  // As a number, every text would be lost, unless numbers in text are converted.
  await expect(plan(page)).toContainText(`${all} values lost`, { timeout: 60_000 });
  await plan(page).getByLabel('Convert text that is a number or yes/no').check();
  await measured('second plan', () =>
    expect(plan(page)).toContainText(`${words.format(TENTHS)} values to confirm`, { timeout: 60_000 }),
  );
  await plan(page)
    .getByRole('checkbox', { name: /^Allow: .* \(Roast\)/ })
    .check();
  await expectAccessible(page);

  await measured('apply', async () => {
    await apply(page).click();
    await other.getByLabel('Body').fill('Written while the type changes, and after it.');
    await expect(page.getByText('Article: the change is applied.')).toBeVisible({ timeout: 240_000 });
  });

  // The open form has the new properties and the text of the colleague, and saves both.
  await expect(other.getByLabel('Stock')).toHaveValue('7', { timeout: 30_000 });
  await expect(other.getByLabel('Body')).toHaveValue('Written while the type changes, and after it.');
  await other.getByRole('button', { name: /^Save/ }).click();
  await expect(other.getByText(/^Saved as version/)).toBeVisible({ timeout: 30_000 });
  await expectAccessible(other);
  await context.close();

  const stored = await readAll(server);
  expect(stored.length).toBe(OBJECTS);
  for (const [index, { internal: _internal, id, ...values }] of stored.entries()) {
    const expected = after(index);
    if (index === 1) expected.body = 'Written while the type changes, and after it.';
    // A call of `expect` for each object would take longer than the change.
    if (id !== idOf(index) || JSON.stringify(sorted(values)) !== JSON.stringify(sorted(expected)))
      expect({ id, ...values }).toEqual({ id: idOf(index), ...expected });
  }
  console.log(took);
});

const sorted = (values: Record<string, unknown>) =>
  Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
