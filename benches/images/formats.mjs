// Compares the encoders of cms and sharp, and the first renderings of a gallery; started by compare.
//
// Encoders: one JPEG to 800x600, each in its own process on one thread. The quality of the result is the peak
// signal-to-noise ratio to the PNG of the same program, so that only the encoder counts.
// Gallery: 50 different JPEGs at the same time, by a new server, and by sharp with all cores.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

const [shrink, cms, modules, file, rounds] = process.argv.slice(2);
const sharp = createRequire(join(modules, "x.js"))("sharp");
sharp.cache(false);
const ENCODERS = {
  "image/jpeg": (image) => image.jpeg({ quality: 85 }),
  "image/webp": (image) => image.webp({ quality: 80 }),
  "image/avif": (image) => image.avif({ quality: 60 }),
};
const [WIDTH, HEIGHT] = [800, 600];
const IMAGES = 50;
const KEY = "0123456789abcdef0123456789abcdef01234567";

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Processor time of a process and its threads, in milliseconds. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const TICK = 10;
  return TICK * (Number(fields[11]) + Number(fields[12]));
}

/** The peak signal-to-noise ratio of an image, in dB. */
async function signalToNoise(encoded, exact) {
  const [left, right] = await Promise.all(
    [encoded, exact].map((image) => sharp(image).removeAlpha().raw().toBuffer()));
  const squares = left.reduce((sum, value, at) => sum + (value - right[at]) ** 2, 0);
  return 10 * Math.log10(255 ** 2 / (squares / left.length));
}

async function timeSharp(mediaType) {
  const before = process.cpuUsage();
  const bytes = await ENCODERS[mediaType](sharp(file).resize(WIDTH, HEIGHT)).toBuffer();
  const { user, system } = process.cpuUsage(before);
  return { bytes, work: (user + system) / 1000 };
}

/** Processor time of one image, without the start of the program. */
function timeCms(mediaType) {
  const COPIES = 4;
  const work = (copies) => {
    const script = '"$@" >/dev/null; times';
    const output = execFileSync("bash", ["-c", script, "bash", shrink, "--measure", file, `${WIDTH}x${HEIGHT}`,
      mediaType], { encoding: "utf8", input: "\n".repeat(copies) });
    const seconds = output.trim().split("\n").at(-1).matchAll(/(\d+)m([\d.]+)s/g);
    return 1000 * [...seconds].reduce((sum, [, min, sec]) => sum + 60 * min + Number(sec), 0);
  };
  return (work(1 + COPIES) - work(1)) / COPIES;
}

async function compareEncoders() {
  console.log(`\n${WIDTH}x${HEIGHT}, medians of ${rounds}; load ${loadavg()[0].toFixed(1)}`);
  console.log("| | processor | size | signal to noise |\n|---|---|---|---|");
  sharp.concurrency(1);
  const exact = {
    cms: execFileSync(shrink, [file, `${WIDTH}x${HEIGHT}`, "image/png"], { maxBuffer: 1e8 }),
    sharp: await sharp(file).resize(WIDTH, HEIGHT).png().toBuffer(),
  };
  for (const mediaType of Object.keys(ENCODERS)) {
    const samples = { cms: [], sharp: [] };
    const bytes = { cms: execFileSync(shrink, [file, `${WIDTH}x${HEIGHT}`, mediaType], { maxBuffer: 1e8 }) };
    for (let round = -1; round < rounds; round++) {
      const theirs = await timeSharp(mediaType);
      bytes.sharp = theirs.bytes;
      const ours = timeCms(mediaType);
      if (round < 0) continue;
      samples.cms.push(ours);
      samples.sharp.push(theirs.work);
    }
    for (const program of ["cms", "sharp"]) {
      const work = median(samples[program]);
      const ratio = program === "cms" ? ` (${(work / median(samples.sharp)).toFixed(2)})` : "";
      const quality = await signalToNoise(bytes[program], exact[program]);
      console.log(`| ${program}, ${mediaType} | ${work.toFixed(1)} ms${ratio} | ` +
        `${(bytes[program].length / 1000).toFixed(0)} kB | ${quality.toFixed(1)} dB |`);
    }
  }
}

/** A server with the images of the gallery, and their URLs. */
async function startServer(folder, images) {
  const server = spawn(cms, ["serve", "--listen", "127.0.0.1:0", "--data", join(folder, "data"), "--log-format",
    "json"], { env: { ...process.env, CMS_ADMIN_KEY: KEY }, stdio: ["ignore", "pipe", "pipe"] });
  const base = await new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [server.stdout, server.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
        if (found) resolve(found[0]);
      });
    }
    server.once("exit", () => reject(new Error(output)));
  });
  const urls = [];
  for (const image of images) {
    const form = new FormData();
    form.set("type", "image");
    form.set("file", await openAsBlob(image, { type: "image/jpeg" }), "photo.jpg");
    const response = await fetch(`${base}/api/media`, {
      method: "POST", headers: { "X-AUTH-TOKEN": KEY }, body: form });
    if (!response.ok) throw new Error(await response.text());
    const { id } = await response.json();
    urls.push(`${base}/image/${WIDTH}x${HEIGHT}/${id}.jpg`);
  }
  return { server, urls };
}

async function compareGalleries() {
  const folder = mkdtempSync(join(tmpdir(), "gallery-"));
  // The server stores equal files once, so each has another width.
  const images = Array.from({ length: IMAGES }, (_, at) => {
    const path = join(folder, `${at}.jpg`);
    writeFileSync(path, execFileSync(shrink, ["--photo", `${4000 - 8 * at}x3000`], { maxBuffer: 1e8 }));
    return path;
  });
  const { server, urls } = await startServer(folder, images);
  sharp.concurrency(availableParallelism());
  console.log(`\nGallery of ${IMAGES}; ${availableParallelism()} cores; load ${loadavg()[0].toFixed(1)}`);
  console.log("| | cms | cms, processor | sharp | sharp, processor |\n|---|---|---|---|---|");
  for (const mediaType of Object.keys(ENCODERS)) {
    let [start, before] = [performance.now(), processorTime(server.pid)];
    const format = mediaType.split("/")[1].replace("jpeg", "jpg");
    await Promise.all(urls.map(async (url) => {
      const response = await fetch(`${url}?format=${format}`);
      if (response.headers.get("content-type") !== mediaType) throw new Error(await response.text());
      await response.arrayBuffer();
    }));
    const ours = { clock: performance.now() - start, work: processorTime(server.pid) - before };
    start = performance.now();
    const usage = process.cpuUsage();
    await Promise.all(images.map((image) =>
      ENCODERS[mediaType](sharp(image).resize(WIDTH, HEIGHT, { fit: "fill" })).toBuffer()));
    const { user, system } = process.cpuUsage(usage);
    const theirs = { clock: performance.now() - start, work: (user + system) / 1000 };
    const cells = [ours.clock, ours.work, theirs.clock, theirs.work].map((time) => `${(time / 1000).toFixed(2)} s`);
    console.log(`| ${mediaType} | ${cells.join(" | ")} |`);
  }
  server.kill();
  rmSync(folder, { recursive: true });
}

await compareEncoders();
await compareGalleries();
