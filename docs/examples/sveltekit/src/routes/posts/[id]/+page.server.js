import { get, withImages } from "#lib/server/cms.js";

export async function load({ fetch, params, setHeaders }) {
  // A proxy or CDN may keep the page for a minute.
  setHeaders({ "Cache-Control": "public, max-age=60" });
  return { post: withImages(await get(fetch, "post", params.id)) };
}
