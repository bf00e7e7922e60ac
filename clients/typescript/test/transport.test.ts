/** Requests to servers that are busy, or that are something else than cms. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { CmsError, UnavailableError, UnexpectedResponseError, createClient } from "cms-client";

import type { ContentTypes } from "../example/cms.js";

type Respond = (response: ServerResponse, number: number, request: IncomingMessage) => void;

/** A client of a server that responds like this; counts its requests. */
async function clientOf(t: TestContext, respond: Respond) {
  let requests = 0;
  const server = createServer((request, response) => respond(response, ++requests, request));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const cms = createClient<ContentTypes>({ url: `http://127.0.0.1:${port}/base/`, key: "k", retries: 2 });
  return { cms, requests: () => requests };
}

const busy = (response: ServerResponse, retryAfter?: string) => {
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  response.writeHead(503).end('{"code":503,"message":"Service Unavailable"}');
};

test("a read is repeated after 503 with Retry-After", async (t) => {
  const { cms, requests } = await clientOf(t, (response, number, { url, headers }) => {
    assert.equal(url, "/base/api/v1/content/post/a?hydrate=1");
    assert.equal(headers["x-auth-token"], "k");
    if (number < 3) return busy(response, number === 1 ? "0" : new Date(Date.now() - 1000).toUTCString());
    response.end('{"id":"a"}');
  });
  assert.equal((await cms.get("post", "a", { hydrate: 1 })).id, "a");
  assert.equal(requests(), 3);
});

test("reads end after some attempts, writes and other responses are not repeated", async (t) => {
  const { cms, requests } = await clientOf(t, (response) => busy(response, "0"));
  await assert.rejects(cms.list("post"), (error: unknown) => {
    assert.ok(error instanceof UnavailableError);
    assert.equal(error.retryAfter, 0);
    return true;
  });
  assert.equal(requests(), 3);
  await assert.rejects(cms.patch("post", "a", {}), UnavailableError);
  assert.equal(requests(), 4);

  const silent = await clientOf(t, (response) => busy(response));
  await assert.rejects(silent.cms.list("post"), UnavailableError);
  const limited = await clientOf(t, (response) => response.writeHead(429, { "retry-after": "0" }).end());
  await assert.rejects(limited.cms.list("post"), UnavailableError);
  const broken = await clientOf(t, (response) => response.writeHead(500).end("<h1>Oops</h1>"));
  await assert.rejects(broken.cms.list("post"), (error: unknown) => {
    assert.ok(error instanceof CmsError && error.status === 500);
    assert.equal(error.body, "<h1>Oops</h1>");
    return true;
  });
  assert.deepEqual([silent.requests(), limited.requests(), broken.requests()], [1, 1, 1]);
});

test("signals end requests, and the time between attempts", async (t) => {
  const { cms } = await clientOf(t, (response) => busy(response, "20"));
  const started = Date.now();
  await assert.rejects(cms.list("post", { signal: AbortSignal.timeout(100) }), /timeout|aborted/);
  const hanging = await clientOf(t, () => undefined);
  await assert.rejects(hanging.cms.get("post", "a", { signal: AbortSignal.timeout(100) }), /timeout|aborted/);
  assert.ok(Date.now() - started < 5000);
});

test("pages of other servers are errors", async (t) => {
  const { cms } = await clientOf(t, (response) => response.end("<html>Welcome</html>"));
  await assert.rejects(cms.list("post"), (error: unknown) => {
    assert.ok(error instanceof UnexpectedResponseError);
    assert.match(error.message, /^GET \/api\/v1\/content\/post: 200 the response is no JSON/);
    return true;
  });
  await assert.rejects(cms.changes({ since: "1" }).next(), UnexpectedResponseError);
});

test("requests use the fetch that is given", async () => {
  const urls: string[] = [];
  const fetch = (url: string) => {
    urls.push(url);
    return Promise.resolve(new Response('{"data":[]}'));
  };
  const cms = createClient<ContentTypes>({ url: "https://cms.example/", fetch });
  await cms.list("post", { ids: ["a b"], emptyFirst: true });
  assert.deepEqual(urls, ["https://cms.example/api/v1/content/post?ids%5B%5D=a+b&empty_first=true"]);
  assert.equal(cms.imageUrl("/image/a.png", { height: 5 }), "https://cms.example/image/0x5/a.png");
});
