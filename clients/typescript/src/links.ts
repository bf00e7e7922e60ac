/** Links, the objects that replace them, and URLs of images. */

import type { AnyLink } from "./content.js";

/** Creates a link to an object. */
export function link<const Type extends string>(
  type: Type,
  id: string,
): { type: "internal"; dataUrl: `/api/v1/content/${Type}/${string}` } {
  return { type: "internal", dataUrl: `/api/v1/content/${type}/${encodeURIComponent(id)}` };
}

/** Returns the type and the id of the object that a link leads to; nothing for an external link. */
export function target(link: AnyLink): { type: string; id: string } | undefined {
  const found = /^\/api\/v1\/content\/([^/]+)\/([^/]+)$/.exec(link.dataUrl);
  if (link.type !== "internal" || !found) return undefined;
  const [, type = "", id = ""] = found;
  return { type, id: decode(id) };
}

/** Decodes an id; one with a percent sign that encodes nothing stays as it is. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Returns whether an element of a hydrated relation is an object. */
export function isObject<Element>(element: Element): element is Exclude<NonNullable<Element>, AnyLink> {
  return typeof element === "object" && element !== null && "id" in element;
}

/** Returns whether an element of a hydrated relation is still a link: its object is deleted or hidden. */
export function isLink<Element>(element: Element): element is Extract<Element, AnyLink> {
  return typeof element === "object" && element !== null && !("id" in element) && "dataUrl" in element;
}

/** Returns whether an object has a type, and narrows an object of several types. */
export function hasType<Content extends { internal: { contentType: string } }, Type extends string>(
  object: Content,
  type: Type,
): object is Extract<Content, { internal: { contentType: Type } }> {
  return object.internal.contentType === type;
}

export interface ImageOptions {
  /** Maximum width and height in pixels; with both, the image is cropped. Images are never enlarged. */
  width?: number;
  height?: number;
  /** A variant of the media object. */
  variant?: string;
  format?: "jpeg" | "png" | "webp" | "avif" | "auto";
  /** 1 to 100. */
  quality?: number;
}

/** The URL of an image in another size or format. */
export function imageUrl(server: string, media: string | { url: string }, options: ImageOptions = {}): string {
  const path = typeof media === "string" ? media : media.url;
  // With an absolute URL, the file is on another server.
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return path;
  const { width = 0, height = 0, variant, format, quality } = options;
  const sized = path.replace(/^\/image\/(\d+x\d+\/)?/, `/image/${width}x${height}/`);
  const query = new URLSearchParams();
  if (format) query.set("format", format);
  if (quality !== undefined) query.set("quality", String(quality));
  const suffix = variant === undefined ? "" : `/variant/${encodeURIComponent(variant)}`;
  return `${server}${sized}${suffix}${query.size > 0 ? `?${query.toString()}` : ""}`;
}
