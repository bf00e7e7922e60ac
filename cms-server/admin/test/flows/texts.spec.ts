import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, signIn, test } from '../support';
import type { Server } from '../server';

type Values = Record<string, unknown>;

async function stored(server: Server, type: string, id: string): Promise<Values> {
  const response = await server.request('GET', `/api/v1/content/${type}/${id}`);
  return response.json();
}

async function open(page: Page, home: string, type: string, id: string): Promise<void> {
  await page.goto(`${home}/admin/c/${type}/${id}`);
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Save/ }).first().click();
  await expect(page.getByText(/Saved as version/).first()).toBeVisible();
}

const text = (page: Page, label: string): Locator => page.getByRole('textbox', { name: label, exact: true });
const tool = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

test('writes a rich text with link, list and table', async ({ page, server, home }) => {
  await signIn(page);
  await open(page, home, 'product', 'tidewater');
  const editor = text(page, 'Description');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('See ');
  await page.keyboard.press('ControlOrMeta+Shift+k');
  const dialog = page.getByRole('dialog', { name: 'Link' });
  await dialog.getByLabel('Address').fill('javascript:alert(1)');
  await dialog.getByLabel('Text of the link').fill('the journal');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog.getByText(/Use http, https/)).toBeVisible();
  await dialog.getByLabel('Address').fill('https://example.org/journal');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await expect(dialog).toBeHidden();
  await page.keyboard.type(', and:');
  await page.keyboard.press('Enter');
  await page.keyboard.type('- One');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Two');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await tool(page, 'Table').click();
  await page.keyboard.type('Grind');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Time');
  await expectAccessible(page);
  await page.screenshot({ path: 'test/results/richtext.png', fullPage: true });
  await save(page);
  const { description } = await stored(server, 'product', 'tidewater');
  expect(description).toContain('<a href="https://example.org/journal">the journal</a>, and:</p>');
  expect(description).toContain('<ul><li>One<ul><li>Two</li></ul></li></ul>');
  expect(description).toContain('<thead><tr><th>Grind</th><th>Time</th>');
});
