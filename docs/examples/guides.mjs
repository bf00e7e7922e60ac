// Checks those parts of the guides that no other test runs: project files in YAML, settings with a server, proxies with
// `caddy`, `nginx` and `haproxy`, the unit with `systemd-analyze`, the workflow and the compose files with
// `check-jsonschema` (in `CMS_TEST_PYTHON`), and the commands of the guides to upgrades, to backups in S3 (with
// `CMS_TEST_S3`) and to clusters (with `CMS_TEST_S3` and `CMS_TEST_POSTGRES`).
//
//     CMS_BIN=target/debug/cms node docs/examples/guides.mjs
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { resolve } from "node:path";

const docs = new URL("..", import.meta.url).pathname;
const binary = resolve(process.env.CMS_BIN ?? `${docs}../target/debug/cms`);
const folder = mkdtempSync(`${tmpdir()}/guides-`);
let failures = 0;

function fail(place, text) {
  console.error(`${place}: ${text.trim()}`);
  failures++;
}

/** The fenced blocks of a page: language, text, and the line of the fence. */
function blocks(page) {
  const found = [];
  let block;
  for (const [index, line] of readFileSync(docs + page, "utf8").split("\n").entries()) {
    if (!line.startsWith("```")) block?.lines.push(line);
    else if (block) block = undefined;
    else found.push((block = { language: line.slice(3), lines: [], place: `docs/${page}:${index + 1}` }));
  }
  return found.map((block) => ({ ...block, text: block.lines.join("\n") + "\n" }));
}

function run(place, program, parameters, options = {}) {
  const result = spawnSync(program, parameters, { cwd: folder, encoding: "utf8", timeout: 120_000, ...options });
  if (result.status !== 0) fail(place, `${program} ${parameters.join(" ")}\n${result.stdout}${result.stderr}`);
  return result.status === 0;
}

/** Returns whether an external program is installed. */
function installed(program, checks) {
  const found = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  if (!found) console.log(`skipped without ${program}: ${checks}`);
  return found;
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

const pages = ["", "how-to/", "reference/"].flatMap((below) =>
  readdirSync(docs + below).filter((name) => name.endsWith(".md")).map((name) => below + name));

const proxied = /^\S+\.example\.com \{\n/;
const variables = /^CMS_LISTEN=/;

// A fragment changes a type of the example site: its list of properties may be left out.
function projectFiles() {
  const fragments = pages.flatMap(blocks).filter(({ language, text }) => language === "yaml" && /^contentTypes:/m.test(text));
  for (const { place, text } of fragments) {
    let project = /^version:/m.test(text) ? text : `version: 1\n${text}`;
    if (!/properties:\n|properties: \{/.test(project)) project = project.replace(/^( +)admin:/m, "$1properties: {title: {type: text}}\n$&");
    project = project.replace(/^ +- file: .*\n/m, "  - {name: author, properties: {name: {type: text}}}\n");
    writeFileSync(`${folder}/project.yaml`, project);
    run(place, binary, ["validate", "project.yaml"]);
  }
}

/** Starts a server with settings in `cms.toml` or in variables; it must become ready. */
async function serves(place, settings, variables = {}) {
  const port = await freePort();
  copyFileSync(`${docs}../fixtures/project.yaml`, `${folder}/project.yaml`);
  writeFileSync(`${folder}/settings.toml`, settings);
  const data = mkdtempSync(`${folder}/data-`);
  const server = spawn(
    binary,
    ["serve", "--config", "settings.toml", "--data", data, "--listen", `127.0.0.1:${port}`],
    { cwd: folder, env: { ...process.env, ...variables }, stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  server.stderr.on("data", (text) => (log += text));
  const ended = new Promise((done) => server.on("exit", done));
  const ready = spawnSync(binary, ["wait", "--server", `http://127.0.0.1:${port}`, "--timeout", "20s"]);
  // `spawnSync` blocked the event loop: the output of the server is read while the process ends.
  server.kill();
  await ended;
  if (ready.status !== 0) fail(place, log);
}

async function settings() {
  const files = pages.flatMap(blocks).filter(({ language }) => language === "toml");
  // The block with the mapping of roles needs the block with the issuer.
  const signOn = files.find(({ text }) => text.includes("openid-issuer"));
  const shown = new Map(files.map(({ text, place }) => [text, place]));
  for (const [text, place] of shown) await serves(place, /^openid/.test(text) ? signOn.text + text : text);
  for (const { text, place } of blocks("how-to/deploy.md").filter(({ text }) => variables.test(text))) {
    const lines = text.replaceAll("/var/lib/cms", folder).trim().split("\n");
    await serves(place, "", Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))));
  }
}

function pipelines() {
  const programs = process.env.CMS_TEST_PYTHON;
  if (!programs) return console.log("skipped: CMS_TEST_PYTHON has no check-jsonschema: the workflow and the compose file");
  const schemas = { "how-to/ci.md": "vendor.github-workflows", "how-to/containers.md": "vendor.compose-spec", "how-to/cluster.md": "vendor.compose-spec" };
  for (const [page, schema] of Object.entries(schemas)) {
    const shown = blocks(page).filter(({ language }) => language === "yaml");
    if (shown.length !== 1) fail(`docs/${page}`, `${shown.length} YAML blocks, expected 1`);
    for (const { place, text } of shown) {
      writeFileSync(`${folder}/checked.yml`, text);
      run(place, `${programs}/check-jsonschema`, ["--builtin-schema", schema, "checked.yml"]);
    }
  }
}

function nginx() {
  if (!installed("nginx", "the configurations of nginx")) return;
  const certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
    "-keyout", "privkey.pem", "-out", "fullchain.pem"];
  if (!run("openssl", "openssl", certificate)) return;
  for (const { place, text } of blocks("how-to/deploy.md").filter(({ language }) => language === "nginx")) {
    const inServer = text.startsWith("server") ? text : `server {\n${text}\n}`;
    const site = inServer.replaceAll("/etc/letsencrypt/live/cms.example.com", folder);
    writeFileSync(`${folder}/nginx.conf`, `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${site}\n}\n`);
    run(place, "nginx", ["-t", "-e", `${folder}/nginx.log`, "-c", `${folder}/nginx.conf`]);
  }
}

function caddy() {
  if (!installed("caddy", "the configurations of Caddy")) return;
  const shown = blocks("how-to/deploy.md").filter(({ text }) => proxied.test(text));
  for (const { place, text } of shown) {
    writeFileSync(`${folder}/Caddyfile`, text);
    const home = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    run(place, "caddy", ["validate", "--config", "Caddyfile", "--adapter", "caddyfile"], { env: home });
  }
}

function haproxy() {
  if (!installed("haproxy", "the configuration of HAProxy")) return;
  const [{ place, text }] = blocks("how-to/cluster.md").filter(({ text }) => text.startsWith("global\n"));
  writeFileSync(`${folder}/haproxy.cfg`, text);
  run(place, "haproxy", ["-c", "-q", "-f", "haproxy.cfg"]);
}

function unit() {
  if (!installed("systemd-analyze", "the unit of the package")) return;
  const text = readFileSync(`${docs}../packaging/cms.service`, "utf8").replaceAll("/usr/local/bin/cms", binary);
  writeFileSync(`${folder}/cms.service`, text);
  // An unknown key is a warning only.
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", `${folder}/cms.service`], { encoding: "utf8" });
  if (status !== 0 || stderr.includes("cms.service")) fail("packaging/cms.service", stderr);
}

// `systemctl` and `journalctl` are replaced; all paths of the system are below the temporary folder.
async function upgrade() {
  const [port, trial] = [await freePort(), await freePort()];
  for (const name of ["bin", "lib"]) mkdirSync(`${folder}/${name}`);
  for (const name of ["bin/cms", "cms-new", "cms-old"]) copyFileSync(binary, `${folder}/${name}`);
  const serve = `cms serve --data ${folder}/lib/cms --listen 127.0.0.1:${port}`;
  const fixtures = `${docs}../fixtures`;
  run("fixtures", binary, ["--data", `${folder}/lib/cms`, "ctd", "apply", `${fixtures}/project.yaml`]);
  run("fixtures", binary, ["--data", `${folder}/lib/cms`, "import", `${fixtures}/content`]);
  const programs = {
    systemctl: `#!/bin/sh
if [ "$1" = start ]; then ${serve} >> "${folder}/out" 2>> "${folder}/log" & echo $! > "${folder}/pid"
else kill "$(cat "${folder}/pid")"; while kill -0 "$(cat "${folder}/pid")" 2> /dev/null; do sleep 0.1; done; fi
`,
    journalctl: `#!/bin/sh\ntail -n 20 "${folder}/log"\n`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(`${folder}/bin/${name}`, text);
    chmodSync(`${folder}/bin/${name}`, 0o755);
  }
  const guide = blocks("how-to/upgrade.md");
  const steps = guide.map(({ text }) => text
    .replaceAll("/usr/local/bin", `${folder}/bin`)
    .replaceAll("/var/lib/private", `${folder}/lib`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${trial}`)
    .replace("CMS_KEY=...", `CMS_KEY="$(sed -n 's/^CMS_ADMIN_KEY=//p' ${folder}/out)"`)
    .replace(/^.*cms-new serve .*$/m, (line) =>
      `${line} > trial.out 2>&1 & trial=$!\ncms wait --server http://127.0.0.1:${trial} --timeout 60s\nkill $trial; wait $trial || true`));
  const script = [
    "set -eu",
    `trap 'systemctl stop 2> /dev/null || true' EXIT`,
    `systemctl start\ncms wait --server http://127.0.0.1:${port} --timeout 60s`,
    ...steps,
    `cms wait --server http://127.0.0.1:${port} --timeout 60s`,
    `cms object list post --limit 1 | grep -q .`,
    `cms export exported --data ${folder}/lib/cms-new-version`,
    `test -n "$(ls exported)"`,
  ].join("\n");
  const environment = { ...process.env, PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder };
  run("docs/how-to/upgrade.md", "bash", ["-c", script], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
}

/** Starts an S3 server and a cms server that sends its backups there: the first backup begins after a minute. */
async function startBackups() {
  const program = process.env.CMS_TEST_S3;
  if (!program) {
    console.log("skipped: CMS_TEST_S3 names no s3rver: the guide to backups in S3");
    return undefined;
  }
  const guide = blocks("how-to/backup-s3.md");
  const policy = guide.find(({ text }) => text.startsWith("{"));
  JSON.parse(policy.text);
  const [storage, port] = [await freePort(), await freePort()];
  const root = `${folder}/s3`;
  mkdirSync(root);
  const children = [spawn(program, ["--address", "127.0.0.1", "--port", `${storage}`, "--silent", "--no-vhost-buckets",
    "--configure-bucket", "my-backups", "--directory", root], { stdio: "ignore" })];
  const data = `${folder}/saved`;
  run("fixtures", binary, ["--data", data, "ctd", "apply", `${docs}../fixtures/project.yaml`]);
  run("fixtures", binary, ["--data", data, "import", `${docs}../fixtures/content`]);
  const settings = guide.find(({ text }) => text.startsWith("CMS_BACKUP_TO"));
  const variables = Object.fromEntries(settings.text.trim().split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
  Object.assign(variables, { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" });
  variables.AWS_ENDPOINT_URL = `http://127.0.0.1:${storage}`;
  const server = spawn(binary, ["serve", "--data", data, "--listen", `127.0.0.1:${port}`],
    { env: { ...process.env, ...variables }, stdio: ["ignore", "ignore", "pipe"] });
  children.push(server);
  const backups = { children, root, guide, log: "" };
  server.stderr.on("data", (text) => (backups.log += text));
  return backups;
}

// `aws` is replaced: it reads the directory of the S3 server.
async function restoreBackup(backups) {
  const { root, guide } = backups;
  const line = guide.find(({ text }) => text.startsWith("INFO backup completed"));
  const until = Date.now() + 100_000;
  while (!/backup completed/.test(backups.log) && Date.now() < until) await new Promise((done) => setTimeout(done, 200));
  if (!/INFO .*backup completed objects=\d+ files=\d+ bytes=\d+ missing=0/.test(backups.log)) fail(line.place, backups.log);
  const name = readdirSync(`${root}/my-backups/site`).map((file) => /^(cms-\w+-\w+\.tar)\._S3rver_object$/.exec(file)?.[1]).find(Boolean);
  const restore = guide.find(({ text }) => text.startsWith("aws s3 ls"));
  const commands = restore.text.replace(/cms-\w+-\w+\.tar/, name);
  const aws = `aws() { case "$2" in
ls) ls "${root}/my-backups/site" ;;
cp) cp "${root}/\${3#s3://}._S3rver_object" "$4" ;;
esac; }
cms() { "${binary}" "$@"; }
`;
  run(restore.place, "bash", ["-euc", aws + commands]);
}

/** Starts PostgreSQL, which does not run as root; returns a function that stops it. */
function startPostgres(programs, port) {
  const data = `${folder}/postgres`;
  const isRoot = process.getuid() === 0;
  mkdirSync(data);
  if (isRoot) {
    const id = spawnSync("id", ["-u", "postgres"], { encoding: "utf8" });
    chownSync(data, Number(id.stdout), 0);
    chmodSync(folder, 0o755);
  }
  const runProgram = (place, program, ...parameters) => {
    const command = [`${programs}/${program}`, "-D", `${data}/data`, ...parameters];
    const [file, ...args] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
    return run(place, file, args, { stdio: ["ignore", "ignore", "pipe"] });
  };
  runProgram("initdb", "initdb", "-A", "trust", "-U", "admin", "--locale=C.UTF-8", "--encoding=UTF8", "-N");
  runProgram("pg_ctl", "pg_ctl", "-w", "-l", `${data}/log`, "-o", `-F -p ${port} -h 127.0.0.1 -k ${data}`, "start");
  return () => runProgram("pg_ctl", "pg_ctl", "-m", "immediate", "-w", "stop");
}

// The nodes run on this machine. Paths of the system are below the temporary folder.
async function cluster() {
  const [programs, storage] = [process.env.CMS_TEST_POSTGRES, process.env.CMS_TEST_S3];
  if (!programs || !storage) return console.log("skipped: CMS_TEST_POSTGRES or CMS_TEST_S3 is not set: the guide to clusters");
  const [database, bucket, ...ports] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const page = blocks("how-to/cluster.md");
  const block = (start) => page.find(({ text }) => text.startsWith(start));
  const stop = startPostgres(programs, database);
  mkdirSync(`${folder}/cluster-files`);
  const children = [spawn(storage, ["--address", "127.0.0.1", "--port", `${bucket}`, "--silent", "--no-vhost-buckets",
    "--configure-bucket", "my-bucket", "--directory", `${folder}/cluster-files`], { stdio: "ignore" })];
  const psql = ({ place, text }, user, name) => {
    const url = `postgres://${user}@127.0.0.1:${database}/${name}`;
    run(place, `${programs}/psql`, ["-q", "-v", "ON_ERROR_STOP=1", url], { input: text, stdio: "pipe" });
  };
  const settings = block("CMS_DATABASE=postgres://cms@db");
  const lines = settings.text.replace("db.example.com", `127.0.0.1:${database}`).trim().split("\n");
  const environment = { ...process.env, ...Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    CMS_ADMIN_KEY: "admin-key-of-the-test-of-the-guide", CMS_ADMIN_PASSWORD: "password of the test", PATH: `${folder}/cluster-bin:${process.env.PATH}`,
    AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_ENDPOINT_URL: `http://127.0.0.1:${bucket}` };
  delete environment.CMS_DATA;
  mkdirSync(`${folder}/cluster-bin`);
  copyFileSync(binary, `${folder}/cluster-bin/cms`);
  const shell = ({ place, text }, env = environment) => {
    const commands = text.replaceAll("/var/lib/private", folder).replaceAll("https://cms.example.com", `http://127.0.0.1:${ports[0]}`);
    run(place, "bash", ["-euc", commands], { env: { ...env, CMS_KEY: environment.CMS_ADMIN_KEY }, stdio: ["ignore", "pipe", "pipe"] });
  };
  try {
    psql(block("CREATE ROLE cms"), "admin", "postgres");
    const single = ["--data", `${folder}/cms-single`];
    run("fixtures", binary, [...single, "ctd", "apply", `${docs}../fixtures/project.yaml`]);
    run("fixtures", binary, [...single, "import", `${docs}../fixtures/content`]);
    shell(block("cms cluster init --from /var/lib/private/cms-single"));
    const nodes = ports.map((port, index) => {
      const env = { ...environment, CMS_DATA: `${folder}/node${index}`, CMS_NODE_NAME: `node${index}`, CMS_LISTEN: `127.0.0.1:${port}` };
      return spawn(binary, ["serve"], { env, stdio: "ignore" });
    });
    children.push(...nodes);
    for (const port of ports) run(settings.place, binary, ["wait", "--server", `http://127.0.0.1:${port}`, "--timeout", "60s"]);
    // Repeats the command until a node has reported the last commit and each duty has a node.
    const status = "for try in $(seq 30); do cms cluster status && exit; sleep 0.5; done; exit 1";
    shell({ place: block("$ cms cluster status").place, text: status });
    shell(block("cms cluster compare"), { ...environment, CMS_DATA: `${folder}/node1` });
    const archive = block("cms backup site.tar --server");
    const restored = `\nunset CMS_MEDIA\ncms restore site.tar --data restored-cluster\ncms check --data restored-cluster\n`;
    shell({ ...archive, text: archive.text + restored });
    const reference = blocks("reference/cluster.md");
    psql({ place: "docs/reference/cluster.md", text: "CREATE ROLE reports LOGIN; GRANT CONNECT ON DATABASE cms TO reports" }, "admin", "cms");
    psql(reference.find(({ text }) => text.startsWith("GRANT USAGE")), "cms", "cms");
    psql(reference.find(({ text }) => text.startsWith("SELECT c.name")), "reports", "cms");
    for (const node of nodes) node.kill();
    await Promise.all(nodes.map((node) => new Promise((done) => (node.exitCode === null ? node.on("exit", done) : done()))));
    psql({ place: archive.place, text: "DROP SCHEMA cms CASCADE" }, "cms", "cms");
    shell(block("cms backup moved.tar"));
    rmSync(`${folder}/cms-single`, { recursive: true });
    const leave = block("cms cluster export /var/lib/private/cms-single");
    shell({ ...leave, text: `${leave.text}\nunset CMS_MEDIA\ncms check --data ${folder}/cms-single\n` });
  } finally {
    for (const child of children) child.kill();
    stop();
  }
}

/** The number of `text` blocks that no test runs, for each page outside of the reference, and what they show. */
const notRun = {
  "admin-page.md": [1, "output"],
  "backup.md": [3, "commands with servers and buckets of the reader"],
  "cli.md": [7, "sessions with output"],
  "preview.md": [1, "a command that the test of the reference runs"],
  "single-sign-on.md": [1, "a log line"],
  "tutorial.md": [3, "installation, and output that the test of the tutorial compares"],
  "users.md": [1, "output"],
  "how-to/astro.md": [3, "installation, which docs/examples/check repeats"],
  "how-to/backup-s3.md": [1, "a log line"],
  "how-to/cluster.md": [8, "commands for the machines of the reader and a container engine, log lines"],
  "how-to/ci.md": [5, "commands for the server and the repository of the reader"],
  "how-to/containers.md": [3, "commands of a container engine"],
  "how-to/deploy.md": [6, "commands for a machine with systemd"],
  "how-to/html.md": [2, "commands, which docs/examples/check repeats, and an expression"],
  "how-to/nextjs.md": [4, "installation, which docs/examples/check repeats"],
  "how-to/python.md": [1, "commands, which the test of the guide repeats"],
  "how-to/sveltekit.md": [3, "installation, which docs/examples/check repeats"],
  "how-to/troubleshooting.md": [1, "commands for the server of the reader"],
  "how-to/typescript.md": [3, "installation, and an excerpt of generated types"],
};
/** The beginnings of `text` blocks that this program runs or checks. */
const checkedBeginnings = ["CMS_BACKUP_TO=s3", "aws s3", '{"Version"', "INFO backup completed", "global\n",
  "CREATE ROLE cms", "CMS_DATABASE=postgres://cms@db", "cms cluster init --from /var/lib/private/cms-single",
  "$ cms cluster status", "cms cluster compare", "cms backup site.tar --server https://cms.example.com",
  "cms cluster export /var/lib/private/cms-single", "cms backup moved.tar --data"];
const isCheckedHere = (text) =>
  checkedBeginnings.some((start) => text.startsWith(start)) || proxied.test(text) || variables.test(text);

/** Languages of blocks that other tests run or compare with the examples. */
const languages = new Set(["sh", "json", "console", "graphql", "graphql v2", "python", "js", "ts", "tsx", "astro", "svelte",
  "html", "text", "yaml", "toml", "caddyfile", "nginx"]);

function inventory() {
  for (const { language, place } of pages.flatMap(blocks)) {
    if (!languages.has(language)) fail(place, `no test knows blocks of the language "${language}"`);
  }
  for (const page of pages.filter((page) => !page.startsWith("reference/") && page !== "how-to/upgrade.md")) {
    const found = blocks(page).filter(({ language, text }) => language === "text" && !isCheckedHere(text));
    const [expected] = notRun[page] ?? [0];
    if (found.length !== expected) {
      fail(`docs/${page}`, `${found.length} text blocks that no test runs, the table has ${expected}: add a test, or correct notRun`);
    }
  }
}

let backups;
try {
  inventory();
  backups = await startBackups();
  projectFiles();
  await settings();
  pipelines();
  caddy();
  nginx();
  haproxy();
  unit();
  await upgrade();
  if (backups) await restoreBackup(backups);
  await cluster();
} finally {
  for (const child of backups?.children ?? []) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failures ? 1 : 0);
