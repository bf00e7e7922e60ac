import { CMS_ORIGIN } from "$app/env/private";
import { preview, withImages } from "#lib/server/cms.js";

export async function load({ fetch, params, url, setHeaders }) {
  setHeaders({
    "Cache-Control": "no-store",
    "Content-Security-Policy": `frame-ancestors ${CMS_ORIGIN}`,
    "Referrer-Policy": "no-referrer",
  });
  const token = url.searchParams.get("token") ?? "";
  return { origin: CMS_ORIGIN, post: withImages(await preview(fetch, "post", params.id, token)) };
}
