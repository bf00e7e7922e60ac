/** The example writes a site of static files. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { createClient } from "cms-client";

import type { ContentTypes } from "../example/cms.js";
import { build } from "../example/site.js";
import { key, startServer } from "./server.js";

test("posts and their images become files", async (t) => {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "cms-site-"));
  t.after(() => server.stop());
  t.after(() => rmSync(folder, { recursive: true }));
  const cms = createClient<ContentTypes>({ url: server.url, key, view: "public" });
  const { posts, images } = await build(cms, folder);
  assert.equal(posts, 16);
  assert.equal(readdirSync(join(folder, "posts")).length, posts);
  assert.equal(readdirSync(join(folder, "images")).length, images);
  assert.ok(images > 3);

  const page = readFileSync(join(folder, "posts/why-the-mill-runs-late.html"), "utf8");
  assert.match(page, /<h1>Why the mill runs late<\/h1><p>Maren Holloway, 2025-01-11<\/p><img src="\.\.\/images\//);
  for (const name of readdirSync(join(folder, "posts"))) {
    const text = readFileSync(join(folder, "posts", name), "utf8");
    for (const [, source = ""] of text.matchAll(/src="\.\.\/([^"]+)"/g)) {
      assert.ok(readFileSync(join(folder, source)).length > 0, source);
    }
    for (const [, file = ""] of text.matchAll(/href="([^"/:]+\.html)"/g)) {
      assert.ok(readFileSync(join(folder, "posts", file)).length > 0, file);
    }
  }
  assert.equal(readFileSync(join(folder, "index.html"), "utf8").match(/<li>/g)?.length, 16);
});
