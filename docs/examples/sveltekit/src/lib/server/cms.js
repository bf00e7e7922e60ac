import { CMS_KEY, CMS_ORIGIN, CMS_SERVER } from "$app/env/private";
import { error } from "@sveltejs/kit";

async function read(fetch, path, query, headers) {
  const url = new URL(`/api/v1/content/${path}`, CMS_SERVER);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const response = await fetch(url, { headers });
  if (response.ok) return response.json();
  if (response.status === 404) error(404, "Not found");
  if (response.status === 401) error(401, "This preview has expired. Open it again from the editor.");
  error(502, `The content server responded with ${response.status}`);
}

const published = () => ({ "X-AUTH-TOKEN": CMS_KEY, "X-Visibility": "public" });

/** One page of published objects. */
export const list = (fetch, type, query = {}) => read(fetch, type, query, published());

/** One published object. Without the visibility header it would be the current version, also a draft. */
export const get = (fetch, type, id) =>
  read(fetch, `${type}/${encodeURIComponent(id)}`, { hydrate: 1 }, published());

/** One object in its current version, also a draft. The token comes from the admin page. */
export const preview = (fetch, type, id, token) =>
  read(fetch, `${type}/${encodeURIComponent(id)}`, { hydrate: 1 }, { "X-AUTH-TOKEN": token });

/** Makes the image URLs of a post absolute. Call it on the server, which knows the URL of the content server. */
export function withImages(post) {
  const absolute = (url, width) => `${CMS_ORIGIN}${url.replace("/image/0x0/", `/image/${width}x0/`)}?format=webp`;
  const blocks = post.content.blocks.map((block) =>
    block.type === "image" ? { ...block, data: { ...block.data, url: absolute(block.data.url, 720) } } : block,
  );
  const header = post.header?.map((media) => ({ ...media, url: absolute(media.url, 720) }));
  return { ...post, header, content: { ...post.content, blocks } };
}
