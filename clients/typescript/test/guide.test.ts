/** The program of docs/how-to/typescript.md runs as printed. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { key, startServer } from "./server.js";

test("the program of the guide runs", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const program = fileURLToPath(new URL("../generated/guide.js", import.meta.url));
  const env = { ...process.env, CMS_SERVER: server.url, CMS_KEY: key };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  const lines = stdout.trim().split("\n");
  assert.match(lines[0] ?? "", /^\S.* [0-9.]+ \S+/);
  for (const line of ["travel-mill 40", "changed by somebody else", "Slow kettle true"]) {
    assert.ok(lines.includes(line), `${line}: ${stdout}`);
  }
  assert.match(stdout, /^Why the mill runs late Maren Holloway$/m);
  assert.match(stdout, /\/image\/320x0\/.*\?format=webp$/m);
});
