// Starts the built binary with the example site on a free port and a new data directory.
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
export const ADMIN = { email: 'ada@example.com', password: 'correct-horse-battery', name: 'ada' };
export const ADMIN_KEY = 'a'.repeat(40);
const START_MS = 60_000;

/** The binary: CMS_BIN, else the newest build. */
function binary(): string {
  if (process.env.CMS_BIN !== undefined) return process.env.CMS_BIN;
  const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
  const built = [join(target, 'release/cms'), join(target, 'debug/cms')].filter((path) => existsSync(path));
  const age = (path: string) => Date.now() - statSync(path).mtimeMs;
  const newest = built.sort((a, b) => age(a) - age(b))[0];
  if (newest === undefined) throw new Error('build the server first: cargo build');
  return newest;
}

const SITE = ['--apply', 'fixtures/project.yaml', '--import', 'fixtures/content'];
/** A data directory with the example site and the first user: the servers of a worker start with copies of it. */
let site: Promise<string> | undefined;

async function createSite(): Promise<string> {
  const server = new Server();
  process.once('exit', () => rmSync(server.folder, { recursive: true, force: true }));
  await server.listen(SITE);
  await server.stop();
  return server.data;
}

export interface Options {
  /** Whether to start with the example site; true by default. */
  content?: boolean;
  /** Whether the first user exists. */
  user?: boolean;
  environment?: Record<string, string>;
}

export class Server {
  private process: ChildProcess | undefined;
  /** What the server printed. */
  output = '';
  url = '';
  readonly folder = mkdtempSync(join(tmpdir(), 'cms-flow-'));

  constructor(private readonly options: Options = {}) {}

  /** Origins that may stand in a frame of the page. */
  get previewOrigins(): string {
    return this.options.environment?.CMS_PREVIEW_ORIGINS ?? '';
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** Starts, or starts again on the same data and port. */
  async start(): Promise<void> {
    const { content = true, user = true } = this.options;
    if (content && user && !existsSync(this.data)) {
      site ??= createSite();
      cpSync(await site, this.data, { recursive: true });
    }
    await this.listen(content && !user ? SITE : []);
  }

  /** Starts the process, and waits until it listens. */
  async listen(flags: string[]): Promise<void> {
    const { user = true, environment = {} } = this.options;
    const listen = this.url === '' ? '127.0.0.1:0' : new URL(this.url).host;
    const args = ['serve', '--data', this.data, '--listen', listen, ...flags];
    const first = user ? { CMS_ADMIN_EMAIL: ADMIN.email, CMS_ADMIN_PASSWORD: ADMIN.password } : {};
    const child = spawn(binary(), args, {
      cwd: ROOT,
      env: { ...process.env, ...first, CMS_ADMIN_KEY: ADMIN_KEY, ...environment },
    });
    this.process = child;
    const listening = new Promise<string>((done, failed) => {
      const read = (bytes: Buffer) => {
        this.output += bytes.toString();
        const found = /listening on (http:\/\/\S+)/.exec(this.output);
        if (found?.[1] !== undefined) done(found[1]);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => failed(new Error(`the server ended:\n${this.output}`)));
      setTimeout(() => failed(new Error(`no start within a minute:\n${this.output}`)), START_MS).unref();
    });
    this.url = await listening;
  }

  /** Ends the process: SIGTERM, or SIGKILL as in a crash. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
    this.output = '';
  }

  /** Ends the process and removes its data. */
  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A request with the key of an administrator, as another program sends it. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        'X-AUTH-TOKEN': ADMIN_KEY,
        'X-MODE': 'preview',
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** As `request`; throws if the server refuses. Returns the value in the response, which has none if it is empty. */
  async send(method: string, path: string, body?: unknown) {
    const response = await this.request(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** What is stored of an object; `path`: its type and its id. */
  stored(path: string): Promise<Record<string, unknown>> {
    return this.send('GET', `/api/v1/content/${path}`);
  }
}
