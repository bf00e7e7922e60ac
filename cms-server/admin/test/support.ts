// What every flow uses: a server, a page, sign-in, and the checks that end a flow: axe without violations,
// and no message of the security policy.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test as base, expect, type Page } from '@playwright/test';
import type axe from 'axe-core';
import { preview } from 'vite';
import { ADMIN, Server, type Options } from './server';

// Minified, because each page parses it again.
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Fixtures {
  options: Options;
  server: Server;
  /** Where the page is: the server, or, with CMS_FLOW_PAGE=dist, the files of the last `npm run build`. */
  pageOrigin: string;
}

export const test = base.extend<Fixtures>({
  options: [{}, { option: true }],
  server: async ({ options }, use) => {
    const server = new Server(options);
    await server.start();
    await use(server);
    await server.remove();
  },
  pageOrigin: async ({ server }, use) => {
    if (process.env.CMS_FLOW_PAGE !== 'dist') {
      await use(server.url);
      return;
    }
    process.env.CMS_SERVER = server.url;
    process.env.PAGE_FRAMES = server.previewOrigins;
    const files = await preview({ logLevel: 'error', preview: { port: 0, host: '127.0.0.1' } });
    const address = files.httpServer.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    await use(`http://127.0.0.1:${String(address.port)}`);
    await files.close();
  },
  baseURL: async ({ pageOrigin }, use) => use(pageOrigin),
  page: async ({ page }, use) => {
    const messages: string[] = [];
    page.on('console', (message) => {
      if (/Content.Security.Policy|TrustedHTML|TrustedScript/i.test(message.text()))
        messages.push(message.text());
    });
    page.on('pageerror', (error) => messages.push(error.message));
    await use(page);
    expect(messages).toEqual([]);
  },
});
export { expect };

/** Creates a session, whose cookie the page has then. */
export async function createSession(
  page: Page,
  user: { email: string; password: string } = ADMIN,
): Promise<void> {
  const { email, password } = user;
  const headers = { 'X-CMS-Request': '1' };
  const response = await page.request.post('/api/v1/session', { headers, data: { email, password } });
  expect(response.status(), await response.text()).toBe(200);
}

/** Opens a path below /admin; in a session of the first user, if there is none yet. */
export async function open(page: Page, path: string): Promise<void> {
  if ((await page.context().cookies()).length === 0) await createSession(page);
  await page.goto(`/admin/${path}`);
}

/** Signs in: on the sign-in screen if the page shows it, else by a request, and opens the page. */
export async function signIn(page: Page, user: { email: string; password: string } = ADMIN): Promise<void> {
  if (page.url() === 'about:blank') {
    await createSession(page, user);
    await page.goto('/admin');
  } else {
    await page.getByLabel('E-mail').fill(user.email);
    await page.getByLabel('Password', { exact: true }).fill(user.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await expect(page.getByRole('navigation', { name: 'Navigation', includeHidden: true })).toBeAttached();
}

/** Creates a user with a role through the API; returns how to sign in, and the id. */
export async function createUser(
  server: Server,
  role: string,
  extra: Record<string, unknown> = {},
): Promise<{ email: string; password: string; id: string }> {
  const user = { email: `${role}@example.com`, password: 'a-long-enough-password' };
  const body = { ...user, name: `${role} user`, role, ...extra };
  const { id } = await server.send('POST', '/api/v1/internal/user', body);
  return { ...user, id };
}

/** Expects that the page, in its present state, has no accessibility violation of WCAG 2.2 AA. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe: inPage } = window as unknown as { axe: typeof axe };
    const { violations } = await inPage.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations'],
      iframes: false,
    });
    return violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.html) }));
  });
  expect(found).toEqual([]);
}
