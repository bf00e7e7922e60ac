/** Requests of the client to a server with the example site. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import {
  AccessError,
  ConflictError,
  ExpiredPositionError,
  NotFoundError,
  RefusedError,
  ValidationError,
  createClient,
  isLink,
  isObject,
  link,
  target,
  type Change,
} from "cms-client";

import type { ContentTypes } from "../generated/news.js";
import { key, startServer, type Server } from "./server.js";

let server: Server;
let cms: ReturnType<typeof createClient<ContentTypes>>;

before(async () => {
  server = await startServer(fileURLToPath(new URL("../../test/news.yaml", import.meta.url)));
  cms = createClient<ContentTypes>({ url: server.url, key });
});
after(() => server?.stop());

test("lists have filters, order, fields and pages", async () => {
  const coffees = await cms.list("product", {
    filters: { kind: { type: "equals", filter: "coffee" }, price: { type: "lessThan", filter: 10 } },
    orderBy: "price",
    fields: ["price"],
  });
  assert.deepEqual(coffees.data.map(({ id }) => id), ["neap", "lantern", "tidewater"]);
  assert.deepEqual(Object.keys(coffees.data[0] ?? {}).sort(), ["id", "price"]);

  const linked = await cms.list("event", { filters: { "place.name": { type: "startsWith", filter: "kron" } } });
  assert.deepEqual(linked.data.map(({ id }) => id), ["cloth-evening"]);

  const page = await cms.list("author", { limit: 2, page: 3 });
  assert.equal(page.total_pages, 3);
  assert.deepEqual(page.data.map(({ id }) => id), ["yusuf"]);
  const ids = await cms.list("author", { ids: ["yusuf", "nobody", "maren"], orderBy: "name" });
  assert.deepEqual(ids.data.map(({ id }) => id), ["maren", "yusuf"]);
});

test("all pages are read one after the other", async () => {
  const ids = [];
  for await (const { id } of cms.all("post", { limit: 5, fields: ["title"] })) ids.push(id);
  assert.equal(ids.length, 16);
  assert.equal(new Set(ids).size, 16);
});

test("hydration replaces links by depth", async () => {
  const plain = await cms.get("product", "hand-mill");
  assert.deepEqual(plain.maker?.map(isLink), [true]);
  const [first] = plain.maker ?? [];
  assert.deepEqual(first && target(first), { type: "author", id: "yusuf" });
  const once = await cms.get("product", "hand-mill", { hydrate: 1 });
  const maker = once.maker?.[0];
  assert.ok(isObject(maker) && maker.name === "Yusuf Demircioğlu");
  assert.ok(isLink(maker.favourite?.[0]));
  const twice = await cms.get("product", "hand-mill", { hydrate: 2 });
  const second = twice.maker?.[0];
  const favourite = isObject(second) ? second.favourite?.[0] : undefined;
  assert.ok(isObject(favourite) && favourite.price > 0);
  const part = await cms.get("product", "hand-mill", { hydrate: 1, fields: ["maker.name"] });
  assert.deepEqual(part, { id: "hand-mill", maker: [{ id: "yusuf", name: "Yusuf Demircioğlu" }] });
});

test("objects are created, replaced, patched and deleted", async () => {
  const create = () =>
    cms.create("author", { name: "Ada Lind", role: "writer" }, { idempotencyKey: "one author" });
  const created = await create();
  assert.equal(created.slug, "ada-lind");
  assert.equal((await create()).id, created.id);
  const patched = await cms.patch("author", created.id, { favourite: [link("product", "neap")] });
  assert.equal(patched.name, "Ada Lind");
  const replaced = await cms.update("author", created.id, { name: "Ada", role: "buyer" });
  assert.equal(replaced.favourite, undefined);
  await cms.delete("author", created.id);
  await assert.rejects(cms.get("author", created.id), NotFoundError);
});

test("errors have the messages of the server", async () => {
  const invalid = cms.create("product", { name: "Cocoa", kind: "cocoa", price: "twelve" } as never);
  await assert.rejects(invalid, (error: unknown) => {
    assert.ok(error instanceof ValidationError);
    assert.equal(error.status, 400);
    assert.deepEqual(error.errors, {
      kind: ["The value does not match possible options"],
      price: ["String value found, but a number is required"],
    });
    assert.match(error.message, /^POST \/api\/v1\/content\/product: 400 kind: The value/);
    return true;
  });
  await assert.rejects(cms.delete("author", "yusuf"), (error: unknown) => {
    assert.ok(error instanceof RefusedError);
    assert.deepEqual(error.reasons, ["This content object is used in another content object."]);
    return true;
  });
  await assert.rejects(createClient<ContentTypes>({ url: server.url, key: "wrong" }).list("post"), AccessError);
  await assert.rejects(cms.get("post", "a/b ?#"), NotFoundError);
  await assert.rejects(cms.get("post", ""), TypeError);
  assert.throws(() => createClient({ url: "ftp://host" }), TypeError);
});

test("a change with the tag of an earlier state is a conflict", async () => {
  const mill = await cms.get("product", "hand-mill");
  const changed = await cms.patch("product", "hand-mill", { price: 90 }, { ifMatch: mill });
  await assert.rejects(cms.patch("product", "hand-mill", { price: 91 }, { ifMatch: mill }), ConflictError);
  await cms.patch("product", "hand-mill", { price: 89 }, { ifMatch: changed });
  await assert.rejects(cms.patch("product", "hand-mill", {}, { ifMatch: {} }), TypeError);
});

test("an unchanged response is not sent again", async () => {
  const first = await cms.list("place", { orderBy: "name" });
  assert.ok(cms.etag(first));
  assert.equal(await cms.list("place", { orderBy: "name", ifNoneMatch: first }), first);
  const object = await cms.get("place", "kronan");
  assert.equal(await cms.get("place", "kronan", { ifNoneMatch: object }), object);
  await cms.patch("place", "kronan", { address: "Elsewhere" });
  const newer = await cms.get("place", "kronan", { ifNoneMatch: object });
  assert.notEqual(newer, object);
  assert.equal(newer.address, "Elsewhere");
});

test("publishing and views follow the status", async () => {
  const flood = await cms.create("news", { title: "Flood", code: "f" });
  const supper = await cms.create("news", { title: "Supper", code: "s", more: [link("news", flood.id)] });
  assert.equal((await cms.list("news")).total_count, 0);
  assert.equal((await cms.list("news", { view: "preview" })).total_count, 2);
  await cms.publish("news", supper.id, { linked: true });
  assert.equal((await cms.list("news")).total_count, 2);
  await cms.unpublish("news", flood.id);
  await assert.rejects(cms.archive("news", flood.id), RefusedError);
  const reader = createClient<ContentTypes>({ url: server.url, key, view: "public" });
  await assert.rejects(reader.get("news", flood.id), NotFoundError);
  await cms.archive("news", supper.id);
  // A read-only property keeps its value.
  const replaced = await cms.update("news", flood.id, { title: "The flood" });
  assert.equal(replaced.code, "f");
});

test("searches have typed items and aggregations", async () => {
  const found = await cms.search('"slow kettle"', { types: ["product"], fields: ["name"] });
  assert.deepEqual(found.data.map(({ item }) => item.name), ["Slow kettle"]);
  const counted = { limit: 1, aggregateBy: ["kind"], postFilters: { kind: "tea" } };
  const kinds = await cms.search("*", { types: ["product"], ...counted });
  assert.deepEqual(kinds.summary.aggregations[0]?.buckets.map(({ key }) => key), ["coffee", "tool", "tea"]);
  const hydrated = await cms.search("*", { types: ["product"], filters: { maker: "yusuf" }, hydrate: 1, limit: 1 });
  assert.ok(isObject(hydrated.data[0]?.item.maker?.[0]));
});

test("images are sent in other sizes and formats", async () => {
  const { data } = await cms.list("_media", { filters: { extension: { type: "equals", filter: "png" } }, limit: 1 });
  const [media] = data;
  assert.ok(media);
  for (const [options, type] of [
    [{ width: 100 }, "image/png"],
    [{ width: 64, height: 64, format: "webp", quality: 50 }, "image/webp"],
    [{ width: 100, height: 100, variant: "square" }, "image/png"],
  ] as const) {
    const response: Response = await fetch(cms.imageUrl(media, options));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), type);
  }
  assert.equal(cms.imageUrl("https://images.example/a.png", { width: 1 }), "https://images.example/a.png");
});

test("changes arrive once and in order, also after a restart of the server", async () => {
  const ended = new AbortController();
  const seen: Change[] = [];
  const { next } = (await cms.request({ method: "GET", path: "/api/v1/changes" })) as { next: string };
  const follow = async () => {
    for await (const change of cms.changes({ types: ["_tag"], since: next, signal: ended.signal })) {
      seen.push(change);
      if (change.id === "second") await server.restart();
      if (change.id === "third") return;
    }
  };
  const create = (id: string) => cms.create("_tag", { id, name: id });
  await create("first");
  const following = follow();
  await create("second");
  while (!seen.some(({ id }) => id === "second")) await new Promise((resolve) => setTimeout(resolve, 20));
  // The server may not listen yet.
  for (let created = false; !created; ) {
    created = await create("third").then(
      () => true,
      () => new Promise((resolve) => setTimeout(() => resolve(false), 50)),
    );
  }
  await following;
  assert.deepEqual(seen.map(({ id, action }) => `${action} ${id}`), ["create first", "create second", "create third"]);

  const [first] = seen;
  assert.ok(first);
  const again: (string | undefined)[] = [];
  for await (const { id } of cms.changes({ types: ["_tag"], since: first.position })) {
    if (again.push(id) === 2) break;
  }
  assert.deepEqual(again, ["second", "third"]);
  await assert.rejects(cms.changes({ since: "5-00000000" }).next(), ExpiredPositionError);
  await assert.rejects(cms.changes({ since: "nowhere" }).next(), ValidationError);
  const waiting = cms.changes({ signal: ended.signal }).next();
  setTimeout(() => ended.abort(new Error("enough")), 200);
  await assert.rejects(waiting, /enough/);
});
