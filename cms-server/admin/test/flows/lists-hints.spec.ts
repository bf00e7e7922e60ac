// Hints of a type for its list.
import { expect, open, test } from '../support';
import { createType, typeDefinition } from '../types';

test('shows the columns and the order of the type, until the user chooses others', async ({
  page,
  server,
}) => {
  const definition = typeDefinition('news', 'News', {
    title: { inputType: 'text' },
    kind: { inputType: 'select', options: ['local', 'world'] },
    place: { inputType: 'text' },
  });
  const admin = { order: '-place', columns: ['title', 'place', 'unknown'] };
  const metaDefinition = { ...Object(definition.metaDefinition), admin };
  await createType(server, {
    ...definition,
    draftPublic: true,
    metaDefinition,
  });
  for (const [title, place] of Object.entries({ One: 'a', Two: 'c', Three: 'b' }))
    await server.request('POST', '/api/v1/content/news', { title, place, kind: 'local' });
  await open(page, 'c/news');
  const titles = page.getByRole('table').getByRole('rowheader');
  await expect(titles).toHaveText(['Two', 'Three', 'One']);
  await expect(page.getByRole('columnheader')).toHaveText([/Title/, /Status/, /Place/, /Edited/, /by/i]);
  await expect(page.getByRole('columnheader', { name: 'Place' })).toHaveAttribute('aria-sort', 'descending');
  await page.getByRole('button', { name: 'Place' }).click();
  await expect(titles).toHaveText(['One', 'Three', 'Two']);
  await page.reload();
  await expect(titles).toHaveText(['One', 'Three', 'Two']);
});
