import { list } from "#lib/server/cms.js";

export async function load({ fetch, url }) {
  const page = Number(url.searchParams.get("page") ?? 1);
  const query = { order_by: "published", order_direction: "desc", limit: 10, page };
  const { data, total_pages } = await list(fetch, "post", query);
  const posts = data.map(({ id, title, excerpt }) => ({ id, title, excerpt }));
  return { posts, page, pages: total_pages };
}
