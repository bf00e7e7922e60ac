// What every flow uses: a server, a page, sign-in, and the checks that end a flow: axe without violations,
// and no message of the security policy.
import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { preview } from 'vite';
import { ADMIN, Server, type Options } from './server';

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
  page: async ({ page, pageOrigin }, use) => {
    const messages: string[] = [];
    page.on('console', (message) => {
      if (/Content.Security.Policy|TrustedHTML|TrustedScript/i.test(message.text()))
        messages.push(message.text());
    });
    page.on('pageerror', (error) => messages.push(error.message));
    await page.goto(`${pageOrigin}/admin`);
    await use(page);
    expect(messages).toEqual([]);
  },
});
export { expect };

/** Signs in on the sign-in screen. */
export async function signIn(page: Page, user: { email: string; password: string } = ADMIN): Promise<void> {
  await page.getByLabel('E-mail').fill(user.email);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('navigation', { name: 'Navigation', includeHidden: true })).toBeAttached();
}

/** Creates a user with a role through the API; returns how to sign in. */
export async function createUser(
  server: Server,
  role: string,
  extra: Record<string, unknown> = {},
): Promise<{ email: string; password: string }> {
  const user = { email: `${role}@example.com`, password: 'a-long-enough-password' };
  const body = { ...user, name: `${role} user`, role, ...extra };
  const response = await server.request('POST', '/api/v1/internal/user', body);
  expect(response.status, await response.clone().text()).toBe(200);
  return user;
}

/** Expects that the page, in its present state, has no accessibility violation of WCAG 2.2 AA. */
export async function expectAccessible(page: Page): Promise<void> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  // Legacy mode does not open another page to collect the results, which takes half of the time. It leaves out
  // frames of other origins, which only the preview has: they show a website, not this page.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).withTags(tags);
  const { violations } = await builder.analyze();
  const found = violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.html) }));
  expect(found).toEqual([]);
}
