import { expect, expectAccessible, open, test } from '../support';
import { openScreen } from '../screens';
import { focusText, save, text, tool, type Values } from '../texts';
import { paste } from '../writing';

test('writes a rich text with link, list and table', async ({ page, server }) => {
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await focusText(editor);
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
  // The tools of the list go a moment after the cursor has left it, and the tool bar moves.
  await expect(page.getByRole('toolbar', { name: 'Selected element: Bulleted list' })).toBeHidden();
  await tool(page, 'Table').click();
  await page.keyboard.type('Grind');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Time');
  await expectAccessible(page);
  await save(page);
  const { description } = await server.stored('product/tidewater');
  expect(description).toContain('<a href="https://example.org/journal">the journal</a>, and:</p>');
  expect(description).toContain('<ul><li>One<ul><li>Two</li></ul></li></ul>');
  expect(description).toContain('<thead><tr><th>Grind</th><th>Time</th>');
});

test('writes a block text with the insert menu, and only edited blocks change', async ({ page, server }) => {
  const before = await server.stored('post/the-ten-oclock-boat');
  await open(page, 'c/post/the-ten-oclock-boat');
  const editor = text(page, 'Content');
  await editor.locator('p').first().click();
  // An event notifies the editor of a moved cursor. Only a test can press a key before that event.
  const cursorIsKnown = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await cursorIsKnown();
  await page.keyboard.press('ControlOrMeta+Home');
  await cursorIsKnown();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowUp');
  await cursorIsKnown();
  await page.keyboard.type('/');
  const filter = page.getByRole('combobox', { name: 'Insert block' });
  await expect(filter).toBeFocused();
  await expect(page.getByRole('option', { name: 'Warning' })).toHaveCount(0);
  await filter.fill('quo');
  await page.keyboard.press('Enter');
  await page.keyboard.type('The sea is early.');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Maren');
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Alt+ArrowUp');
  await expectAccessible(page);
  await save(page);
  const after = await server.stored('post/the-ten-oclock-boat');
  const [old, now] = [blocksOf(before), blocksOf(after)];
  expect(now.slice(1)).toEqual(old);
  expect(now[0]).toMatchObject({ type: 'quote', data: { text: 'The sea is early.', caption: 'Maren' } });
  expect(now[0]?.id).toMatch(/^[\w-]{10}$/);
  await tool(page, 'Delete block').click();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor.getByText('The sea is early.')).toBeVisible();
});

function blocksOf(values: Values): Values[] {
  const content = Object(values.content);
  return Array.isArray(content.blocks) ? content.blocks : [];
}

test('writes Markdown with a preview, and keeps its line endings', async ({ page, server }) => {
  const story = 'One\r\n\r\n* two\r\n';
  await server.request('PATCH', '/api/v1/content/place/tidemill', { story });
  await open(page, 'c/place/tidemill');
  const editor = text(page, 'Story');
  await focusText(editor);
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('ControlOrMeta+b');
  const preview = page.getByRole('region', { name: 'Story, preview' });
  await expect(preview.locator('strong')).toHaveText('One');
  await tool(page, 'Link').click();
  await page.getByRole('dialog').getByLabel('Address').fill('/posts/1');
  await page.keyboard.press('Enter');
  await expect(preview.getByRole('link', { name: 'One' })).toBeVisible();
  await expectAccessible(page);
  await save(page);
  expect((await server.stored('place/tidemill')).story).toBe('**[One](/posts/1)**\r\n\r\n* two\r\n');
});

const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src="x" onerror="window.hacked = 2">',
  '<p onclick="window.hacked = 3" style="position:fixed;inset:0">hostile words <a href="javascript:window.hacked = 4">link</a></p>',
  '<svg onload="window.hacked = 5"><script>window.hacked = 6</script></svg>',
  '<style>body { display: none }</style>',
  '<iframe srcdoc="&lt;script&gt;parent.hacked = 7&lt;/script&gt;"></iframe>',
  '<img src="https://tracker.example/pixel.png" alt="pixel">',
].join('\n');
/** HTML that changes when it is parsed a second time (mutation XSS): it opens as source. */
const MUTATING =
  '<p>hostile words</p><math><mtext><table><mglyph><style><img src=x onerror="window.hacked = 8">';

test('shows hostile texts without running them, and leaves them as they are', async ({
  page,
  server,
  pageOrigin,
}) => {
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const block = (type: string, data: unknown) => ({ id: `h-${type}`, type, data });
  const content = {
    time: 1,
    version: '2.22.2',
    blocks: [
      block('paragraph', { text: HOSTILE }),
      block('header', { text: 'Head <img src=x onerror="window.hacked = 9">', level: 2 }),
      block('image', { url: 'javascript:window.hacked = 10', caption: HOSTILE }),
      block('quote', { text: HOSTILE, caption: '<script>window.hacked = 12</script>' }),
    ],
  };
  const all = [
    ['product', 'tidewater', { description: HOSTILE }, 'Description'],
    ['product', 'lantern', { description: MUTATING }, 'Description, source'],
    ['post', 'the-ten-oclock-boat', { content }, 'Content'],
    [
      'place',
      'tidemill',
      { story: `${HOSTILE}\n\n${MUTATING}\n\n[x](javascript:window.hacked=11)` },
      'Story',
    ],
  ] as const;
  for (const [type, id, values, label] of all) {
    await server.send('PATCH', `/api/v1/content/${type}/${id}`, values);
    await openScreen(page, `c/${type}/${id}`);
    await expect(text(page, label)).toBeVisible();
    await expect(text(page, label).getByText('hostile words').first()).toBeVisible();
    // Clicks into the text run no script either.
    await text(page, label).click();
    await text(page, label).press('ControlOrMeta+Home');
    await expectAccessible(page);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    const name = page.getByLabel(type === 'post' ? 'Title' : 'Name', { exact: false }).first();
    await name.fill(`${await name.inputValue()}, again`);
    await save(page);
    expect(await server.stored(`${type}/${id}`)).toMatchObject(values);
  }
  expect(requests.filter((url) => !url.startsWith(pageOrigin) && !url.startsWith('blob:'))).toEqual([]);
});

test('opens a text as source if the visual editor would change it', async ({ page, server }) => {
  const description = '<p><strong>A <b>b</b></strong></p><p>c</p>';
  await server.request('PATCH', '/api/v1/content/product/tidewater', { description });
  await open(page, 'c/product/tidewater');
  await expect(text(page, 'Description, source')).toBeVisible();
  await page.getByText('What the visual editor would change').click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Edit visually anyway' }).click();
  await expect(text(page, 'Description')).toBeVisible();
  await expect(page.getByText('No changes')).toBeVisible();
  await tool(page, 'Edit source').click();
  await text(page, 'Description, source').fill('<p>New</p>');
  await save(page);
  expect((await server.stored('product/tidewater')).description).toBe('<p>New</p>');
});

test('pastes from other pages without scripts and foreign images', async ({ page, server }) => {
  await open(page, 'c/product/tidewater');
  const editor = text(page, 'Description');
  await paste(
    editor,
    'Head',
    '<h2 style="color:red" onclick="a()">Head</h2><p class="MsoNormal"><span style="x">Word</span> <a href="javascript:a()">bad</a><script>a()</script><img src="https://x.example/a.png" alt="Boat"></p>',
  );
  await expect(
    page.getByText('Left out of the paste: <script>, images of other servers (Boat).'),
  ).toBeVisible();
  await save(page);
  expect((await server.stored('product/tidewater')).description).toBe('<h2>Head</h2><p>Word bad</p>');
  await paste(
    editor,
    'a b c',
    '<b style="font-weight:normal"><p><span style="font-weight:400">a </span><span style="font-weight:700">b</span></p></b>' +
      '<p class="MsoListParagraph" style="mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">· </span>c</p>',
  );
  await save(page);
  await expect
    .poll(async () => (await server.stored('product/tidewater')).description)
    .toBe('<p>a <strong>b</strong></p><ul><li>c</li></ul>');
  const started = Date.now();
  await paste(editor, 'word '.repeat(300_000));
  await expect(page.getByText('It was not pasted.')).toBeVisible();
  await paste(editor, 'word '.repeat(20_000), `<p>${'<b>word</b> '.repeat(100_000)}</p>`);
  await expect(page.getByText('it was pasted as plain text')).toBeVisible();
  expect(Date.now() - started).toBeLessThan(5000);
});
