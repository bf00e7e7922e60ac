/** Sends requests with the key, queries and bodies; reads errors; repeats reads while the server is busy. */

import { UnavailableError, UnexpectedResponseError, errorOf } from "./errors.js";

/** A `fetch` of the platform or of a framework. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Which objects and versions a request sees. Without it, lists and searches show what readers see, and `get` returns
 * the current version, a draft as well.
 */
export type View = "preview" | "public";

export interface TransportOptions {
  /** The URL of the server, with its path if it has one. */
  url: string;
  /** A key of the server; leave it out if a proxy adds one. */
  key?: string | undefined;
  fetch?: Fetch | undefined;
  /** The view of requests that do not name one. */
  view?: View | undefined;
  /** Maximum number of retries of a read after 503 with `Retry-After`; 3 by default. */
  retries?: number | undefined;
}

export interface Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the URL of the server, with a slash at its start. */
  path: string;
  query?: readonly (readonly [name: string, value: string])[];
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string | undefined>>;
  view?: View | undefined;
  signal?: AbortSignal | undefined;
  /**
   * The request sends no property values. So a member `errors` of the response lists the reasons of a refusal, and is
   * not about a property named `errors`.
   */
  hasNoValues?: boolean;
}

/** The longest time between two attempts. */
const MAX_WAIT_SECONDS = 30;

export class Transport {
  readonly url: string;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    const { protocol, search, hash } = new URL(options.url);
    if (!/^https?:$/.test(protocol) || search || hash) {
      throw new TypeError(`the URL of the server is not valid: ${options.url}. Use http://HOST or https://HOST`);
    }
    this.url = options.url.replace(/\/+$/, "");
    this.#options = options;
  }

  /** Sends a request; returns a success, or 304. */
  async send(request: Request): Promise<Response> {
    const { method, path, query = [], body, signal, hasNoValues = false } = request;
    const search = new URLSearchParams(query.map(([name, value]) => [name, value])).toString();
    const init: RequestInit = { method, headers: this.#headers(request) };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const send = this.#options.fetch ?? fetch;
    const attempts = method === "GET" ? 1 + (this.#options.retries ?? 3) : 1;
    for (let number = 1; ; number++) {
      const response = await send(`${this.url}${path}${search && `?${search}`}`, init);
      if (response.ok || response.status === 304) return response;
      const error = await errorOf(response, `${method} ${path}`, hasNoValues);
      const mayRepeat = error instanceof UnavailableError && error.status === 503 && number < attempts;
      if (!mayRepeat || error.retryAfter === undefined) throw error;
      await wait(Math.min(error.retryAfter, MAX_WAIT_SECONDS) * 1000, signal);
    }
  }

  /** Reads the JSON of a response. */
  async json<Body>(response: Response, { method, path }: Request): Promise<Body> {
    const text = await response.text();
    try {
      return JSON.parse(text) as Body;
    } catch {
      const message = "the response is no JSON: does the URL lead to a cms server?";
      throw new UnexpectedResponseError(message, response.status, `${method} ${path}`, text);
    }
  }

  #headers({ headers = {}, body, view = this.#options.view }: Request): Record<string, string> {
    const all: Record<string, string | undefined> = {
      "x-auth-token": this.#options.key,
      "x-mode": view === "preview" ? "preview" : undefined,
      "x-visibility": view === "public" ? "public" : undefined,
      "content-type": body === undefined ? undefined : "application/json",
      ...headers,
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

/** Waits. If the signal ends the wait, it fails with the reason of the signal. */
export async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
