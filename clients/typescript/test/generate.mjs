// Writes the files that the tests compile: the types of the example site, of a Draft & Public type, and of every
// input type with hostile texts; and the program in docs/how-to/typescript.md. Fails if the file of the
// example is out of date.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const cms = process.env.CMS_BIN;
if (!cms) throw new Error("CMS_BIN must name the cms binary, for example $PWD/../../target/debug/cms");

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const read = (path) => readFileSync(here(path), "utf8");

mkdirSync(here("../generated"), { recursive: true });
for (const [sources, file] of [
  [["../../../fixtures/project.yaml"], "../generated/cms.ts"],
  [["../../../fixtures/project.yaml", "news.yaml"], "../generated/news.ts"],
  [["../../../fixtures/tables/typescript.json"], "../generated/hostile.ts"],
]) {
  const files = sources.map(here);
  execFileSync(cms, ["types", "typescript", ...files, "-o", here(file), "--quiet"], { stdio: "inherit" });
}
if (read("../generated/cms.ts") !== read("../example/cms.ts")) {
  throw new Error("example/cms.ts is out of date: cms types typescript ../../fixtures/project.yaml -o example/cms.ts");
}

const blocks = read("../../../docs/how-to/typescript.md").matchAll(/^```ts\n(.*?)^```$/gms);
writeFileSync(here("../generated/guide.ts"), [...blocks].map(([, block]) => block).join("\n"));
