/** A server with the example site for the tests of one file. */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const fixtures = new URL("../../../../fixtures/", import.meta.url);

export const key = "an-admin-key-for-tests";

export interface Server {
  url: string;
  /** Starts the server again on the same address. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts a server on a new data directory, with these project files and the content of the example site. */
export async function startServer(...projects: string[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "cms-client-"));
  const data = join(folder, "data");
  const path = (name: string) => new URL(name, fixtures).pathname;
  const content = [
    ...[path("project.yaml"), ...projects].flatMap((file) => ["--apply", file]),
    ...["--import", path("content")],
  ];
  let running = await start(data, "127.0.0.1:0", content);
  const address = new URL(running.url).host;
  return {
    url: running.url,
    restart: async () => {
      await running.stop();
      running = await start(data, address, []);
    },
    stop: async () => {
      await running.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

interface Running {
  url: string;
  stop: () => Promise<void>;
}

async function start(data: string, listen: string, more: string[]): Promise<Running> {
  const cms = process.env["CMS_BIN"];
  if (!cms) throw new Error("CMS_BIN must name the cms binary");
  const child = spawn(cms, ["serve", "--data", data, "--listen", listen, ...more], {
    env: { PATH: process.env["PATH"], CMS_ADMIN_KEY: key, CMS_LOG: "error" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`the server ended: ${lines.join("\n")}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const found = /^listening on (.+)$/.exec(line);
      if (found?.[1]) resolve(found[1]);
    });
  });
  return {
    url,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
