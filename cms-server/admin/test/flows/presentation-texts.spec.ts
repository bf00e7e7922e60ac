// Long words, right-to-left texts and empty titles, as editors write them.
import type { Locator } from '@playwright/test';
import { expectNoSidewaysScroll, openScreen } from '../screens';
import type { Server } from '../server';
import { expect, expectAccessible, test } from '../support';
import { createType, typeDefinition } from '../types';

const WORD = 'Donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichen'.repeat(3);
const HEBREW = 'שלום abc!';
const OVERRIDE = '\u202Eturned';

async function createPages(server: Server, titles: string[]): Promise<void> {
  const definition = typeDefinition('page', WORD, { title: { inputType: 'text' } }, { draftPublic: true });
  await createType(server, definition);
  for (const [index, title] of titles.entries()) {
    const object = { id: `page-${String(index)}`, title };
    await server.send('POST', '/api/v1/content/page', object);
  }
}

/** Where a part of a text begins, in pixels from the left. */
function leftOf(text: Locator, part: string): Promise<number> {
  return text.evaluate((element, searched) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const at = node.textContent?.indexOf(searched) ?? -1;
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect().left;
    }
    throw new Error(`no ${searched}`);
  }, part);
}

test('breaks words that are longer than the screen', async ({ page, server }) => {
  test.setTimeout(120_000);
  await createPages(server, [WORD, WORD]);
  await server.send('DELETE', '/api/v1/content/page/page-1');
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      '',
      'c/page',
      'c/page/page-0',
      'search?q=page',
      'activity',
      'trash',
      'types/page',
      'system',
    ]) {
      await openScreen(page, path);
      await expectNoSidewaysScroll(page, path);
    }
  }
});

test('names objects by their ids if their title has only spaces', async ({ page, server }) => {
  await createPages(server, ['   ']);
  for (const path of ['', 'c/page', 'search?q=id:page-0', 'activity']) {
    await openScreen(page, path);
    await expect(page.getByRole('main').getByRole('link', { name: 'page-0' }).first(), path).toBeVisible();
  }
  await openScreen(page, 'c/page/page-0');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('page-0');
  await expectAccessible(page);
});

test('shows texts in their own direction', async ({ page, server }) => {
  await createPages(server, [HEBREW, OVERRIDE]);
  await openScreen(page, 'c/page');
  // In a text that begins with Hebrew, the last character is at the left.
  const link = page.getByRole('link', { name: HEBREW });
  expect(await leftOf(link, '!')).toBeLessThan(await leftOf(link, 'ש'));
  await openScreen(page, 'c/page/page-0');
  const heading = page.getByRole('heading', { level: 1 });
  expect(await leftOf(heading, '!')).toBeLessThan(await leftOf(heading, 'ש'));
  await expect(page.getByLabel('Title')).toHaveCSS('unicode-bidi', 'plaintext');
  // A character that turns a text does not turn the texts after it.
  await openScreen(page, 'activity');
  const row = page.getByRole('listitem').filter({ hasText: OVERRIDE });
  expect(await leftOf(row, 'Donau')).toBeLessThan(await leftOf(row, 'dampf'));
});
