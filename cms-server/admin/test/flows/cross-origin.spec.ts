// A page of another origin attacks while the administrator is signed in: nothing changes, nothing is readable.
import type { Page } from '@playwright/test';
import { Attacker, load, sendForm, tryFetch } from '../attacker';
import type { Server } from '../server';
import { createSession, expect, test as base } from '../support';

const REFUSED = { code: 403, message: 'Cross-site request refused' };
const HOSTS = ['127.0.0.1', 'localhost'] as const;
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

const test = base.extend<{ attacker: Attacker }>({
  attacker: async ({}, use) => {
    const attacker = new Attacker();
    await attacker.start();
    await use(attacker);
    attacker.stop();
  },
});

/** Everything that an attack could have changed. */
async function state(server: Server): Promise<unknown> {
  const read = async (path: string): Promise<Record<string, unknown>> => server.send('GET', path);
  const users = (await read('/api/v1/internal/user')).data as { id: string }[];
  const sessions = users.map(({ id }) => read(`/api/v1/internal/user/${id}/session`));
  return {
    activity: await read('/api/v1/activity?limit=1000'),
    users: users.map(({ id }) => id),
    sessions: (await Promise.all(sessions)).map(({ data }) => (data as { id: string }[]).map(({ id }) => id)),
    keys: (await read('/api/v1/internal/key')).total_count,
    media: (await read('/api/v1/content/_media')).total_count,
    trash: (await read('/api/v1/trash')).total_count,
    jobs: (await read('/api/v1/job')).total_count,
    post: await server.stored('post/the-ten-oclock-boat'),
  };
}

async function openAttack(page: Page, origin: string): Promise<Page> {
  const attack = await page.context().newPage();
  await attack.goto(origin);
  return attack;
}

/** Expects that the session still works, and that nothing has changed on the server. */
async function expectUnchanged(page: Page, server: Server, before: unknown): Promise<void> {
  expect(await state(server)).toEqual(before);
  const own = await page.request.get(`${server.url}/api/v1/session`);
  expect(own.status()).toBe(200);
}

for (const host of HOSTS) {
  test(`a form on a page of ${host} changes nothing`, async ({ page, server, attacker }) => {
    await createSession(page);
    const before = await state(server);
    const attack = await openAttack(page, attacker.origin(host));
    const post = '/api/v1/content/post';
    const paths = [
      post,
      `${post}/batch`,
      `${post}/batch-delete`,
      `${post}/bulk`,
      `${post}/the-ten-oclock-boat/publish`,
      `${post}/the-ten-oclock-boat/unpublish`,
      '/api/media',
      '/api/v1/trash/empty',
      '/api/v1/internal/user',
      '/api/v1/internal/key',
      '/api/v1/preview',
      '/api/graphql',
      '/api/v2/graphql',
    ];
    for (const path of paths) {
      for (const enctype of FORMS) {
        // As `text/plain` the body is JSON: `{"title":"Attack","x":"=","ids":[]}`.
        const fields = { '{"title":"Attack","slug":"attack","x":"': '","ids":["the-ten-oclock-boat"]}' };
        const { status, body } = await sendForm(attack, { action: server.url + path, enctype, fields });
        const at = `${path} as ${enctype}: ${body}`;
        if (host === 'localhost') {
          // The browser does not send the cookie from another site.
          expect(status, at).toBe(401);
        } else {
          expect(status, at).toBe(403);
          expect(body, at).toContain(REFUSED.message);
        }
      }
    }
    await expectUnchanged(page, server, before);
  });

  test(`a page of ${host} can neither sign in nor sign out`, async ({ page, server, attacker }) => {
    await createSession(page);
    const before = await state(server);
    const attack = await openAttack(page, attacker.origin(host));
    const url = `${server.url}/api/v1/session`;
    const account = { email: 'ada@example.com', password: 'correct-horse-battery' };
    for (const enctype of FORMS) {
      for (const action of [url, `${url}/code`]) {
        const found = await sendForm(attack, { action, enctype, fields: account });
        expect(found, `${action} as ${enctype}`).toMatchObject({ status: 403 });
        expect(JSON.parse(found.body)).toEqual(REFUSED);
      }
      // The server does not read methods from the field `_method`.
      const signOut = await sendForm(attack, { action: url, enctype, fields: { _method: 'DELETE' } });
      expect(signOut.status).toBe(403);
      const password = await sendForm(attack, { action: `${url}/password`, enctype, fields: account });
      expect([401, 405]).toContain(password.status);
    }
    const json = { 'Content-Type': 'application/json' };
    const own = { 'X-CMS-Request': '1' };
    const body = JSON.stringify(account);
    const requests: RequestInit[] = [
      { method: 'POST', body, mode: 'no-cors' },
      { method: 'POST', body, headers: json },
      { method: 'POST', body, headers: { ...json, ...own } },
      { method: 'DELETE' },
      { method: 'DELETE', headers: own },
    ];
    for (const init of requests) {
      const seen = await tryFetch(attack, url, { credentials: 'include', ...init });
      expect(['refused', 'opaque 0 '], JSON.stringify(init)).toContain(seen);
    }
    await expectUnchanged(page, server, before);
  });

  test(`a script on a page of ${host} reads and changes nothing`, async ({ page, server, attacker }) => {
    await createSession(page);
    const before = await state(server);
    const attack = await openAttack(page, attacker.origin(host));
    const sent: string[] = [];
    attack.on('response', (response) => {
      const method = response.request().method();
      if (!['GET', 'OPTIONS'].includes(method)) sent.push(`${method} ${String(response.status())}`);
    });
    const post = `${server.url}/api/v1/content/post`;
    const reads = [
      post,
      `${server.url}/api/v1/session`,
      `${server.url}/api/auth-context`,
      `${server.url}/api/v1/internal/user`,
      `${server.url}/api/v1/internal/key`,
      `${server.url}/api/graphql?query={__typename}`,
      `${server.url}/api/v1/session/openid`,
      `${server.url}/admin`,
    ];
    for (const url of reads) {
      const credentials = 'include';
      expect(await tryFetch(attack, url, { credentials }), url).toBe('refused');
      const headers = { 'X-CMS-Request': '1', 'X-MODE': 'preview' };
      expect(await tryFetch(attack, url, { credentials, headers }), url).toBe('refused');
      expect(await tryFetch(attack, url, { credentials, mode: 'no-cors' }), url).toBe('opaque 0 ');
      for (const tag of ['img', 'script', 'link'] as const)
        expect(await load(attack, tag, url), `${tag} ${url}`).toBe('error');
    }
    // Without credentials, the page may read the response, which says that credentials are required.
    expect(await tryFetch(attack, post, {})).toMatch(/^cors 401 /);
    const body = '{"title":"Attack","slug":"attack"}';
    const json = { 'Content-Type': 'application/json' };
    const own = { 'X-CMS-Request': '1' };
    const writes: [string, RequestInit][] = [
      [post, { method: 'POST', body, mode: 'no-cors' }],
      [post, { method: 'POST', body }],
      [post, { method: 'POST', body, headers: json }],
      [post, { method: 'POST', body, headers: { ...json, ...own } }],
      [post, { method: 'POST', body, headers: own, mode: 'no-cors' }],
      [post, { method: 'POST', body, headers: own, credentials: 'same-origin' }],
      [`${post}/the-ten-oclock-boat`, { method: 'DELETE', headers: own }],
      [`${post}/the-ten-oclock-boat`, { method: 'PATCH', body, headers: { ...json, ...own } }],
      [`${post}/the-ten-oclock-boat`, { method: 'PUT', body, headers: { ...json, ...own } }],
      [`${server.url}/api/v1/sessions`, { method: 'DELETE', headers: own }],
    ];
    for (const [url, init] of writes) {
      const seen = await tryFetch(attack, url, { credentials: 'include', ...init });
      expect(['refused', 'opaque 0 '], `${url} ${JSON.stringify(init)}`).toContain(seen);
    }
    // The server refused the requests that the browser sent without a preflight request.
    const status = host === 'localhost' ? '401' : '403';
    expect(new Set(sent)).toEqual(new Set([`POST ${status}`]));
    await expectUnchanged(page, server, before);
  });

  test(`a page of ${host} can neither frame nor control the page`, async ({ page, server, attacker }) => {
    await createSession(page);
    const attack = await openAttack(page, attacker.origin(host));
    for (const path of ['/admin', '/admin/users', '/docs']) {
      await attack.evaluate((url) => {
        document.querySelector('iframe')?.setAttribute('src', url);
      }, server.url + path);
      await expect
        .poll(() => attack.frames().map((frame) => frame.url()), { message: path })
        .toContain('chrome-error://chromewebdata/');
      await attack.reload();
    }
    const [opened, handle] = await Promise.all([
      attack.context().waitForEvent('page'),
      attack.evaluateHandle((url) => {
        const other = window.open(url);
        return {
          get state() {
            try {
              return [other?.closed, other?.length, other?.document.title].join();
            } catch (error) {
              return [other?.closed, other?.length, error instanceof DOMException && error.name].join();
            }
          },
        };
      }, `${server.url}/admin`),
    ]);
    await opened.waitForLoadState();
    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
    // For the attacker, the window seems to be closed.
    expect(await handle.evaluate((value) => value.state)).toBe('true,0,SecurityError');

    const events = await attack.evaluate(
      (url) =>
        new Promise<string>((done) => {
          const source = new EventSource(url, { withCredentials: true });
          source.onopen = () => done('open');
          source.onmessage = () => done('message');
          source.onerror = () => done('error');
        }),
      `${server.url}/api/v1/changes`,
    );
    expect(events).toBe('error');
  });
}

/** Reads from the cache of the browser, without a request to the server. */
const cached = (page: Page, url: string): Promise<string> =>
  tryFetch(page, url, { cache: 'force-cache', credentials: 'omit' });

test('responses that the browser has cached for the page are not readable by another page', async ({
  page,
  server,
  attacker,
}) => {
  await createSession(page);
  const own = await page.context().newPage();
  await own.goto(`${server.url}/admin`);
  const post = `${server.url}/api/v1/content/post/the-ten-oclock-boat`;
  await own.evaluate(async (url) => (await fetch(url, { headers: { 'X-CMS-Request': '1' } })).text(), post);
  const attack = await openAttack(page, attacker.origin('127.0.0.1'));
  const users = `${server.url}/api/v1/internal/user`;
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    attack.evaluate((url) => void window.open(url), users),
  ]);
  await opened.waitForLoadState();
  const backup = `${server.url}/api/v1/internal/backup`;
  await tryFetch(attack, backup, { mode: 'no-cors', credentials: 'include' });
  const status = (text: string) => text.split(' ').slice(0, 2).join(' ');
  for (const url of [post, users, backup])
    expect.soft(['refused', 'cors 401'], url).toContain(status(await cached(attack, url)));
});

test('a script in an uploaded file has no session', async ({ page, server }) => {
  await createSession(page);
  const before = await state(server);
  const script = `fetch('/api/v1/sessions', { method: 'DELETE', headers: { 'X-CMS-Request': '1' } })`;
  const files = [
    [
      'attack.svg',
      'image/svg+xml',
      `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`,
    ],
    ['attack.txt', 'text/plain', `<!doctype html><script>${script}</script>`],
    ['attack.html', 'text/plain', `<!doctype html><script>${script}</script>`],
  ] as const;
  for (const [name, type, text] of files) {
    const body = new FormData();
    body.append('type', 'file');
    body.append('file', new Blob([text], { type }), name);
    const uploaded = await fetch(`${server.url}/api/media`, {
      method: 'POST',
      headers: { 'X-AUTH-TOKEN': 'a'.repeat(40) },
      body,
    });
    const { url, id } = (await uploaded.json()) as { url?: string; id?: string };
    if (url === undefined) {
      expect(uploaded.status, name).toBe(400);
      continue;
    }
    const requests: string[] = [];
    const opened = await page.context().newPage();
    opened.on('request', (request) => requests.push(request.url()));
    await opened.goto(server.url + url);
    expect(requests.filter((address) => address.includes('/api/'))).toEqual([]);
    await opened.close();
    await server.request('DELETE', `/api/v1/content/_media/${id ?? ''}`);
  }
  const after = await state(server);
  expect((after as { sessions: unknown }).sessions).toEqual((before as { sessions: unknown }).sessions);
});
