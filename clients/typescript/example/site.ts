/**
 * Writes a website of static files: an index, a page for each post, and their images.
 *
 *     CMS_SERVER=http://127.0.0.1:8080 CMS_KEY=... node site.js public
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createClient, isObject, type Client, type Hydrated } from "cms-client";

import type { Blocks, ContentTypes, Post } from "./cms.js";

type Content = Client<ContentTypes>;
type Story = Hydrated<ContentTypes, Post, 1>;
type PostBlock = NonNullable<NonNullable<Post["content"]>["blocks"]>[number];

const WIDTH = 640;

/** Writes the site into a folder; returns the number of posts and images. */
export async function build(cms: Content, folder: string): Promise<{ posts: number; images: number }> {
  const images = new Images(cms, folder);
  await mkdir(join(folder, "posts"), { recursive: true });
  await mkdir(join(folder, "images"), { recursive: true });
  const items: string[] = [];
  for await (const post of cms.all("post", { hydrate: 1, orderBy: "published", orderDirection: "desc" })) {
    await writeFile(join(folder, "posts", `${post.slug}.html`), await article(post, images));
    items.push(`<li><a href="posts/${post.slug}.html">${text(post.title)}</a> ${text(post.excerpt)}</li>`);
  }
  await writeFile(join(folder, "index.html"), page("Tidemill", `<h1>Tidemill</h1><ul>${items.join("\n")}</ul>`));
  return { posts: items.length, images: images.count };
}

async function article(post: Story, images: Images): Promise<string> {
  const [author] = post.author;
  const by = isObject(author) ? `<p>${text(author.name)}, ${post.published.slice(0, 10)}</p>` : "";
  const header = post.header?.[0];
  const image = isObject(header) ? await images.show(header.url, header.alt ?? "") : "";
  const related = (post.related ?? [])
    .filter(isObject)
    .map(({ slug, title }) => `<li><a href="${slug}.html">${text(title)}</a></li>`);
  const more = related.length > 0 ? `<h2>More</h2><ul>${related.join("")}</ul>` : "";
  return page(post.title, `<h1>${text(post.title)}</h1>${by}${image}${await body(post.content, images)}${more}`);
}

async function body({ blocks = [] }: Blocks<PostBlock["type"]>, images: Images): Promise<string> {
  const shown = [];
  for (const block of blocks) shown.push(await show(block, images));
  return shown.join("\n");
}

// The texts of blocks are HTML of the editor: bold, italic, links.
async function show(block: PostBlock, images: Images): Promise<string> {
  switch (block.type) {
    case "paragraph":
      return `<p>${block.data?.text ?? ""}</p>`;
    case "header":
      return `<h2>${block.data?.text ?? ""}</h2>`;
    case "quote":
      return `<blockquote>${block.data?.text ?? ""}</blockquote>`;
    case "list":
      return `<ul>${(block.data?.items ?? []).map(({ content = "" }) => `<li>${content}</li>`).join("")}</ul>`;
    case "image":
      return block.data?.url ? images.show(block.data.url, block.data.caption ?? "") : "";
    case "delimiter":
      return "<hr>";
  }
}

/** Downloads each image once, in the width of the page. */
class Images {
  readonly #known = new Set<string>();

  constructor(
    readonly cms: Content,
    readonly folder: string,
  ) {}

  get count(): number {
    return this.#known.size;
  }

  async show(url: string, alternative: string): Promise<string> {
    // SVG files are sent as they are.
    const isDrawing = url.endsWith(".svg");
    const name = (url.split("/").at(-1) ?? "").replace(/\.[^.]+$/, isDrawing ? ".svg" : ".webp");
    if (!this.#known.has(name)) {
      const source = this.cms.imageUrl(url, isDrawing ? {} : { width: WIDTH, format: "webp" });
      const response = await fetch(source);
      if (!response.ok) throw new Error(`${source}: ${response.status}`);
      await writeFile(join(this.folder, "images", name), new Uint8Array(await response.arrayBuffer()));
      this.#known.add(name);
    }
    return `<img src="../images/${name}" alt="${text(alternative)}">`;
  }
}

function page(title: string, body: string): string {
  return `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${text(title)}</title>\n${body}\n</html>\n`;
}

function text(value: string): string {
  return value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cms = createClient<ContentTypes>({
    url: process.env["CMS_SERVER"] ?? "http://127.0.0.1:8080",
    key: process.env["CMS_KEY"],
    view: "public",
  });
  const { posts, images } = await build(cms, process.argv[2] ?? "public");
  console.log(`${posts} posts, ${images} images`);
}
