// Every block of source in a guide is a complete file of its example, and the guide has all of these files.
import { readFileSync, readdirSync, statSync } from "node:fs";

const root = new URL("..", import.meta.url).pathname;
const guides = { nextjs: "nextjs", astro: "astro", sveltekit: "sveltekit", html: "html", deploy: "deploy", cluster: "cluster" };
const languages = /^(ts|tsx|js|json|html|astro|svelte|caddyfile|nginx)$/;
let failures = 0;

function files(folder) {
  const names = readdirSync(folder).filter((name) => !["node_modules", ".next", "dist", "build"].includes(name));
  const paths = names.map((name) => `${folder}/${name}`);
  return paths.flatMap((path) => (statSync(path).isDirectory() ? files(path) : [path]));
}

for (const [guide, example] of Object.entries(guides)) {
  const texts = new Map(files(`${root}examples/${example}`).map((file) => [readFileSync(file, "utf8"), file]));
  const quoted = new Set();
  const lines = readFileSync(`${root}how-to/${guide}.md`, "utf8").split("\n");
  let start;
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("```")) continue;
    if (start === undefined) {
      start = index;
      continue;
    }
    const block = lines.slice(start + 1, index).join("\n") + "\n";
    quoted.add(texts.get(block));
    if (languages.test(lines[start].slice(3)) && !texts.has(block)) {
      console.error(`docs/how-to/${guide}.md:${start + 1}: no file of docs/examples/${example} has this text`);
      failures++;
    }
    start = undefined;
  }
  for (const file of texts.values()) {
    if (quoted.has(file) || /\/(package-lock\.json|\.gitignore|tsconfig\.json|next-env\.d\.ts)$/.test(file)) continue;
    console.error(`docs/how-to/${guide}.md: does not quote ${file.slice(root.length)}`);
    failures++;
  }
}
process.exit(failures ? 1 : 0);
