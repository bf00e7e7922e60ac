import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const root = fileURLToPath(new URL("..", import.meta.url));

/** URL of the files of a revision, for links to files outside of docs/. Without it, such links become text. */
const repository = process.env.DOCS_REPOSITORY?.replace(/\/$/, "");

/** The path of the site on its server, with a slash at both ends. */
const base = process.env.DOCS_BASE ?? "/";

/** The first heading of a page, without its formatting. */
function title(page: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(`${root}${page}.md`, "utf8"));
  if (!heading) throw new Error(`docs/${page}.md has no heading`);
  return heading[1].replaceAll("`", "");
}

const listed = new Set<string>();

function pages(...names: string[]) {
  return names.map((name) => {
    listed.add(name);
    return { text: title(name), link: `/${name.replace(/README$/, "")}` };
  });
}

/** The pages `first` of a folder, then its other pages that are not listed yet. */
function folder(name: string, ...first: string[]) {
  const files = readdirSync(`${root}${name}`).filter((file) => file.endsWith(".md"));
  const all = files.map((file) => `${name}/${file.slice(0, -3)}`).sort();
  const start = pages(...first.map((page) => `${name}/${page}`));
  return [...start, ...pages(...all.filter((page) => !listed.has(page)))];
}

const servers = pages(
  "install",
  "how-to/deploy",
  "how-to/containers",
  "how-to/ci",
  "backup",
  "how-to/backup-s3",
  "how-to/upgrade",
  "how-to/cluster",
  "operations",
  "how-to/troubleshooting",
);
const frontEnds = pages(
  "how-to/html",
  "how-to/nextjs",
  "how-to/astro",
  "how-to/sveltekit",
  "how-to/typescript",
  "how-to/python",
  "preview",
);

const sidebar = [
  { text: "Tutorial", items: pages("tutorial") },
  {
    text: "How-to guides",
    items: [
      { text: "Front ends and clients", collapsed: false, items: [...frontEnds, ...folder("how-to")] },
      { text: "Editors", collapsed: false, items: pages("admin-page", "users", "single-sign-on") },
      { text: "Running a server", collapsed: false, items: servers },
    ],
  },
  {
    text: "Reference",
    items: [
      ...pages("cli", "reference/cli", "configuration"),
      {
        text: "HTTP API",
        collapsed: false,
        items: folder("reference", "README", "http", "content-types", "objects", "filters"),
      },
    ],
  },
  {
    text: "Concepts",
    items: [
      ...pages("concepts", "comparison", "benchmarks"),
      { text: "Decisions", collapsed: true, items: folder("decisions") },
    ],
  },
];

export default defineConfig({
  title: "cms",
  description: "Documentation of cms, a self-hosted headless CMS in one program",
  lang: "en",
  base,
  head: [["link", { rel: "icon", href: `${base}icon.svg`, type: "image/svg+xml" }]],
  // The addresses of pages work on every static file server, without rules.
  cleanUrls: false,
  srcExclude: ["examples/**"],
  rewrites: { "reference/README.md": "reference/index.md" },
  markdown: {
    // The anchors that repository hosts generate for headings.
    anchor: {
      slugify: (heading) =>
        heading.trim().toLowerCase().replaceAll(" ", "-").replace(/[^\p{Letter}\p{Number}_-]/gu, ""),
    },
    languageAlias: { console: "shellsession", "graphql v2": "graphql", caddyfile: "nginx" },
    config(md) {
      // Pages are plain Markdown: neither HTML nor expressions of Vue.
      md.set({ html: false });
      const text = md.renderer.rules.text!;
      md.renderer.rules.text = (...all) => text(...all).replaceAll("{{", "&#123;&#123;");
      md.core.ruler.push("links", (state) => {
        const page: string = state.env.relativePath;
        for (const { children } of state.tokens) {
          for (const [index, token] of (children ?? []).entries()) {
            const href = token.attrGet("href");
            if (token.type !== "link_open" || !href || /^([a-z]+:|#|\/)/.test(href)) continue;
            const [path, hash = ""] = href.split(/(?=#)/);
            const target = posix.join(posix.dirname(page), path);
            // Sources of the examples are files, not pages.
            if (target.startsWith("../") || target.startsWith("examples/")) {
              const file = posix.join("docs", target);
              if (!existsSync(`${root}../${file}`)) throw new Error(`${page}: ${href} does not exist`);
              if (repository) {
                token.attrSet("href", `${repository}/${file}${hash}`);
              } else {
                const end = children!.findIndex((one, at) => at > index && one.type === "link_close");
                for (const one of [token, children![end]]) Object.assign(one, { type: "text", content: "" });
              }
            } else if (/(^|\/)README\.md$/.test(path)) {
              token.attrSet("href", `${path.replace(/README\.md$/, "index.md")}${hash}`);
            }
          }
        }
      });
    },
  },
  themeConfig: {
    sidebar,
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Reference", link: "/reference/" },
    ],
    outline: [2, 3],
    search: { provider: "local" },
    docFooter: { prev: false, next: false },
  },
  buildEnd({ pages: built }) {
    const missing = built
      .map((page) => page.replace(/\.md$/, ""))
      .filter((page) => page !== "index" && !listed.has(page));
    if (missing.length > 0) throw new Error(`pages without an entry in the sidebar: ${missing.join(", ")}`);
  },
});
