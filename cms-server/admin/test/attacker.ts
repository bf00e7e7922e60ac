// A page of another origin, in the browser of a signed-in user: what it tries, and what it could read.
import { createServer, type Server as HttpServer } from 'node:http';
import type { Page } from '@playwright/test';

/** Serves empty pages on a port of its own, below each name of this machine. */
export class Attacker {
  private readonly http: HttpServer = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>Another page</title><iframe name="result"></iframe>');
  });

  async start(): Promise<void> {
    await new Promise<void>((done) => this.http.listen(0, '127.0.0.1', done));
  }

  /** The origin of the pages. If its host is that of the server, only the port differs: browsers send the cookie. */
  origin(host: '127.0.0.1' | 'localhost'): string {
    const address = this.http.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `http://${host}:${String(address.port)}`;
  }

  stop(): void {
    this.http.close();
    this.http.closeAllConnections();
  }
}

/** Sends a form into a frame; returns what the server said. */
export async function sendForm(
  page: Page,
  form: { action: string; method?: 'get' | 'post'; enctype: string; fields: Record<string, string> },
): Promise<{ status: number; body: string }> {
  const responded = page.waitForResponse((response) => response.url().startsWith(form.action));
  await page.evaluate(({ action, method = 'post', enctype, fields }) => {
    const element = document.createElement('form');
    Object.assign(element, { action, method, enctype, target: 'result' });
    for (const [name, value] of Object.entries(fields)) {
      const input = document.createElement('input');
      Object.assign(input, { type: 'hidden', name, value });
      element.append(input);
    }
    document.body.append(element);
    element.submit();
  }, form);
  const response = await responded;
  return { status: response.status(), body: await response.text().catch(() => '') };
}

/** What the page can read of a response: nothing, or status and text. */
export function tryFetch(page: Page, url: string, options: RequestInit): Promise<string> {
  return page.evaluate(
    async ([address, init]) => {
      try {
        const response = await fetch(address, init);
        return `${response.type} ${String(response.status)} ${await response.text()}`;
      } catch {
        return 'refused';
      }
    },
    [url, options] as const,
  );
}

/** Loads an address as part of the page; returns whether the browser accepted the response. */
export function load(page: Page, tag: 'img' | 'script' | 'link', url: string): Promise<'load' | 'error'> {
  return page.evaluate(
    ([name, address]) =>
      new Promise<'load' | 'error'>((done) => {
        const element = document.createElement(name);
        element.onload = () => done('load');
        element.onerror = () => done('error');
        Object.assign(element, name === 'link' ? { rel: 'stylesheet', href: address } : { src: address });
        document.body.append(element);
      }),
    [tag, url] as const,
  );
}
