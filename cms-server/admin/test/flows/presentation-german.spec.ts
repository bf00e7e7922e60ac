// The page in German: chosen in the settings, and no English text is left on any screen.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { addManaged, openScreen, SCREENS } from '../screens';
import { expect, expectAccessible, test } from '../support';

const TEXTS = join(import.meta.dirname, '../../src/text');
/** Stands for an argument of a text. */
const ARGUMENT_PLACEHOLDER = '§';

/** All sentences of a language: strings, and results of functions, with `ARGUMENT_PLACEHOLDER` for each argument. */
async function sentences(language: string): Promise<string[]> {
  const found: string[] = [];
  const collect = (value: unknown) => {
    if (typeof value === 'string') found.push(value);
    else if (typeof value === 'function') {
      for (const argument of [ARGUMENT_PLACEHOLDER, 7, [ARGUMENT_PLACEHOLDER], new Date(0)]) {
        try {
          collect(value(argument, argument, argument, argument, argument));
        } catch {
          // This text takes another kind of argument.
        }
      }
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const file of readdirSync(join(TEXTS, language))) {
    if (!file.endsWith('.ts') || file === 'index.ts') continue;
    const module: unknown = await import(join(TEXTS, language, file));
    collect(module);
  }
  return found.map((text) => text.replace(/NaN|undefined|\[object \w+\]/g, ARGUMENT_PLACEHOLDER).trim());
}

/** Patterns of English sentences that must not be shown; without those that are also German, or contents. */
async function englishOnly(server: Server): Promise<RegExp[]> {
  const german = new Set(await sentences('de'));
  const types = ['', '/_media', '/_tag', '/_webhooks'].map(async (type) =>
    (await server.request('GET', `/api/v1/internal/contenttype${type}`)).text(),
  );
  // The names of the first keys are contents too.
  const contents = `${(await Promise.all(types)).join().replaceAll(' (internal)', '')} "read-only"`;
  const unique = new Set(await sentences('en'));
  return [...unique]
    .filter((text) => /[a-z]{3}/i.test(text) && !german.has(text) && !contents.includes(`"${text}"`))
    .map((text) => {
      const parts = text.split(/§|7/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      // A short text with gaps would match contents, so its gaps match numbers only.
      const gap = text.replace(/[^a-z]/gi, '').length < 12 ? '[\\d.,–]+' : '.+';
      return new RegExp(`^${parts.join(gap)}$`);
    });
}

/** Visible texts, and names for assistive technology. */
const shown = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node instanceof Element) {
        for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
          found.add(node.getAttribute(name)?.trim() ?? '');
      } else if (node.parentElement?.checkVisibility()) {
        found.add((node.textContent ?? '').replace(/\s+/g, ' ').trim());
      }
    }
    return [...found].filter((text) => text !== '');
  });

test('speaks German on every screen after it was chosen in the settings', async ({ page, server }) => {
  test.setTimeout(600_000);
  await addManaged(server);
  const english = await englishOnly(server);
  expect(english.length).toBeGreaterThan(300);
  const expectGerman = async (place: string) => {
    const found = (await shown(page)).filter((text) => english.some((pattern) => pattern.test(text)));
    expect(found, `English in ${place}`).toEqual([]);
  };
  await openScreen(page, 'me');
  // While the page is in English, the comparison must find English sentences.
  expect(
    (await shown(page)).filter((text) => english.some((pattern) => pattern.test(text))).length,
  ).toBeGreaterThan(20);
  await page.getByLabel('Language').selectOption('Deutsch');
  await expect(page.getByRole('heading', { level: 1, name: 'Meine Einstellungen' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  for (const path of SCREENS) {
    await openScreen(page, path);
    await expectGerman(path);
  }

  await openScreen(page, 'c/product/tidewater');
  await page.getByRole('button', { name: 'Weitere Aktionen' }).click();
  await expectGerman('menu of an object');
  await page.getByRole('menuitem', { name: 'Löschen …' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectGerman('dialog before a deletion');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Wählen … Pictures/ }).click();
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible();
  await expectGerman('media picker');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectGerman('command palette');
  await page.keyboard.press('Escape');

  await openScreen(page, 'c/post/the-ten-oclock-boat');
  await page.getByRole('button', { name: 'Veröffentlichen …' }).last().click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectGerman('dialog that publishes');
  await expectAccessible(page);
});
