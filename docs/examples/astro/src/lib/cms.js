import { CMS_KEY, CMS_ORIGIN, CMS_SERVER } from "astro:env/server";

async function read(path, query, headers) {
  const url = new URL(`/api/v1/content/${path}`, CMS_SERVER);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const response = await fetch(url, { headers });
  if (response.ok) return response.json();
  throw Object.assign(new Error(`${path}: ${response.status} ${await response.text()}`), { status: response.status });
}

/** All published objects of a type, page by page. */
export async function list(type, query = {}) {
  const objects = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const headers = { "X-AUTH-TOKEN": CMS_KEY, "X-Visibility": "public" };
    const response = await read(type, { limit: 100, ...query, page }, headers);
    objects.push(...response.data);
    pages = response.total_pages;
  }
  return objects;
}

/** One object in its current version, also a draft. The token comes from the admin page. */
export function preview(type, id, token) {
  return read(`${type}/${encodeURIComponent(id)}`, { hydrate: 1 }, { "X-AUTH-TOKEN": token });
}

/** The URL of an image in another width. The server never enlarges an image. */
export function image(url, width) {
  return `${CMS_ORIGIN}${url.replace("/image/0x0/", `/image/${width}x0/`)}?format=webp`;
}
