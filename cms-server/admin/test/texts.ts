// What the flows of texts share.
import type { Locator, Page } from '@playwright/test';
import { expect } from './support';

export type Values = Record<string, unknown>;

export async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Save/ }).first().click();
  await expect(page.getByText(/Saved as version/).first()).toBeVisible();
}

export const text = (page: Page, label: string): Locator =>
  page.getByRole('textbox', { name: label, exact: true });
export const tool = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

// Clicks into a text, and waits: the editor may restore the selection of the click 20 ms later, and would replace a
// selection that keys have made since.
export async function focusText(editor: Locator): Promise<void> {
  await editor.click();
  await editor.evaluate(() => new Promise((done) => setTimeout(done, 40)));
}
