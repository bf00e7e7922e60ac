// Long words and empty titles, as editors write them.
import { expectNoSidewaysScroll, openScreen } from '../screens';
import type { Server } from '../server';
import { expect, expectAccessible, signIn, test } from '../support';
import { typeDefinition } from '../types';

const WORD = 'Donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichen'.repeat(3);

async function createPages(server: Server, titles: string[]): Promise<void> {
  const definition = typeDefinition('page', WORD, { title: { inputType: 'text' } }, { draftPublic: true });
  const defined = await server.request('POST', '/api/v1/internal/contenttype', definition);
  expect(defined.status, await defined.clone().text()).toBe(200);
  for (const [index, title] of titles.entries()) {
    const object = { id: `page-${String(index)}`, title };
    expect((await server.request('POST', '/api/v1/content/page', object)).status).toBe(200);
  }
}

test('breaks words that are longer than the screen', async ({ page, server, pageOrigin }) => {
  test.setTimeout(120_000);
  await createPages(server, [WORD, WORD]);
  expect((await server.request('DELETE', '/api/v1/content/page/page-1')).status).toBe(204);
  await signIn(page);
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
      await openScreen(page, pageOrigin, path);
      await expectNoSidewaysScroll(page, path);
    }
  }
});

test('names objects by their ids if their title has only spaces', async ({ page, server, pageOrigin }) => {
  await createPages(server, ['   ']);
  await signIn(page);
  for (const path of ['', 'c/page', 'search?q=id:page-0', 'activity']) {
    await openScreen(page, pageOrigin, path);
    await expect(page.getByRole('main').getByRole('link', { name: 'page-0' }).first(), path).toBeVisible();
  }
  await openScreen(page, pageOrigin, 'c/page/page-0');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('page-0');
  await expectAccessible(page);
});
