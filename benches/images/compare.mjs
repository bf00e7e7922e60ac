// Downscales one JPEG with cms, sharp and vipsthumbnail; started by compare.
//
// Each runs on one thread, from the file to the encoded bytes. Rounds of cms and sharp are interleaved after
// a warm-up, so that other load affects both alike; vipsthumbnail follows. Measures wall-clock and processor time;
// on a busy machine only the latter is comparable. Memory is the peak of a new process that downscales
// one image.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [shrink, modules, file, rounds] = process.argv.slice(2);
const sharp = createRequire(join(modules, "x.js"))("sharp");
sharp.concurrency(1);
sharp.cache(false);
const VIPS = { ...process.env, VIPS_CONCURRENCY: "1" };
const COPIES = 10;

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** A process of cms with one thread, which downscales the image once per input line. */
function startCms(size) {
  const process = spawn(shrink, ["--measure", file, size, "image/jpeg"]);
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  const worked = () => Number(readFileSync(`/proc/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  const time = async () => {
    const before = worked();
    process.stdin.write("\n");
    const clock = Number((await lines.next()).value);
    return { clock, work: worked() - before };
  };
  return { time, stop: () => process.stdin.end() };
}

async function timeSharp(width, height) {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await sharp(file).resize(width, height).jpeg({ quality: 85 }).toBuffer();
  const { user, system } = process.cpuUsage(before);
  return { clock: performance.now() - start, work: (user + system) / 1000 };
}

/** The time of one image, without the start of the program. */
function timeVips(size, folder) {
  const run = (copies) => {
    const start = performance.now();
    const options = ["--vips-cache-max=0", "--size", size, "-o", join(folder, "%s.jpg[Q=85]")];
    const times = execFileSync("bash", ["-c", 'vipsthumbnail "$@" >/dev/null; times', "bash",
      ...options, ...Array(copies).fill(file)], { env: VIPS, encoding: "utf8" });
    const seconds = times.trim().split("\n").at(-1).matchAll(/(\d+)m([\d.]+)s/g);
    const work = [...seconds].reduce((sum, [, min, sec]) => sum + 60 * min + Number(sec), 0);
    return { clock: performance.now() - start, work: work * 1000 };
  };
  const [one, many] = [run(1), run(1 + COPIES)];
  return { clock: (many.clock - one.clock) / COPIES, work: (many.work - one.work) / COPIES };
}

/** The peak memory of a new process in megabytes. It is polled, because it is not available after the
 * process ended. */
async function memory(command, ...options) {
  const process = spawn(command, options, { env: VIPS, stdio: "ignore" });
  let peak = 0;
  let isRunning = true;
  process.once("exit", () => (isRunning = false));
  while (isRunning) {
    try {
      const line = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${process.pid}/status`, "utf8"));
      peak = Math.max(peak, Number(line?.[1] ?? 0));
    } catch {
      break;
    }
    await new Promise(setImmediate);
  }
  return peak / 1024;
}

function row(name, values, baseline, unit) {
  const cell = (value, at) => `${value.toFixed(1)} ${unit} (${(value / baseline[at]).toFixed(2)})`;
  console.log(`| ${name} | ${values.map(cell).join(" | ")} |`);
}

const versions = `sharp ${sharp.versions.sharp} with libvips ${sharp.versions.vips}`;
const vips = execFileSync("vipsthumbnail", ["--version"], { encoding: "utf8" }).trim();
console.log(`${file}; ${versions}; ${vips}; load ${loadavg()[0].toFixed(1)}`);
console.log("In brackets: the ratio to sharp. Times are medians.");
console.log("\n| | 800x600 | 200x150 | processor, 800x600 | processor, 200x150 |\n|---|---|---|---|---|");
const folder = mkdtempSync(join(tmpdir(), "images-"));
const sizes = [[800, 600], [200, 150]];
const samples = sizes.map(() => ({ cms: [], sharp: [], vips: [] }));
for (const [at, [width, height]] of sizes.entries()) {
  const cms = startCms(`${width}x${height}`);
  for (let round = -2; round < rounds; round++) {
    const times = { cms: await cms.time(), sharp: await timeSharp(width, height) };
    if (round >= 0) for (const name in times) samples[at][name].push(times[name]);
  }
  for (let round = 0; round < rounds / 5; round++) {
    samples[at].vips.push(timeVips(`${width}x${height}`, folder));
  }
  cms.stop();
}
const times = (name) => ["clock", "work"].flatMap((kind) =>
  samples.map((times) => median(times[name].map((time) => time[kind]))));
for (const name of ["cms", "sharp", "vips"]) row(name, times(name), times("sharp"), "ms");

console.log("\n| | memory, 800x600 | memory, 200x150 |\n|---|---|---|");
const peaks = { cms: [], sharp: [], vips: [], node: [] };
const library = JSON.stringify(join(modules, "node_modules", "sharp"));
for (const [width, height] of sizes) {
  const size = `${width}x${height}`;
  const script = `const sharp = require(${library}); sharp.concurrency(1);
    sharp(${JSON.stringify(file)}).resize(${width}, ${height}).jpeg({ quality: 85 }).toBuffer()`;
  peaks.cms.push(await memory(shrink, file, size, "image/jpeg"));
  peaks.sharp.push(await memory(process.execPath, "-e", script));
  peaks.vips.push(await memory("vipsthumbnail", "--size", size, "-o", join(folder, "x.jpg[Q=85]"), file));
  peaks.node.push(await memory(process.execPath, "-e", `require(${library})`));
}
for (const name of ["cms", "sharp", "vips"]) row(name, peaks[name], peaks.sharp, "MB");
row("node and sharp, idle", peaks.node, peaks.sharp, "MB");
rmSync(folder, { recursive: true });
