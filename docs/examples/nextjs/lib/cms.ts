// The URL of the content server, for requests of this program and for browsers.
const server = process.env.CMS_SERVER!;
const origin = process.env.CMS_ORIGIN!;

export type Media = { url: string; width: number; height: number; alt?: string };
export type Block = { id: string; type: string; data: Record<string, any> };
export type Post = {
  id: string;
  title: string;
  slug: string;
  published: string;
  excerpt: string;
  author: { name: string }[];
  header?: Media[];
  content: { blocks: Block[] };
};

type Query = Record<string, string | number | object>;

function url(path: string, query: Query) {
  const url = new URL(`/api/v1/content/${path}`, server);
  for (const [name, value] of Object.entries(query)) {
    url.searchParams.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return url;
}

async function read(path: string, query: Query, init: RequestInit) {
  const response = await fetch(url(path, query), init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Published objects. Next.js caches the response until the webhook comes. */
export async function list<T>(type: string, query: Query = {}): Promise<T[]> {
  const headers = { "X-AUTH-TOKEN": process.env.CMS_KEY!, "X-Visibility": "public" };
  const page = await read(type, query, { headers, cache: "force-cache", next: { tags: ["cms"] } });
  return page.data;
}

/** One object in its current version, also a draft. The token comes from the admin page. */
export async function preview<T>(type: string, id: string, token: string): Promise<T> {
  const path = `${type}/${encodeURIComponent(id)}`;
  return read(path, { hydrate: 1 }, { headers: { "X-AUTH-TOKEN": token }, cache: "no-store" });
}

/** The URL of an image in another width. The server never enlarges an image. */
export function image(url: string, width: number) {
  return `${origin}${url.replace("/image/0x0/", `/image/${width}x0/`)}?format=webp`;
}
