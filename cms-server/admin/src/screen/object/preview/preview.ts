// Previews of an object by the front end of the site: where they may be shown, and their URL. Knows requests.
import { sendRequest, api, type ApiResult, type Schema } from '../../../api/client';
import { session } from '../../../session/session.svelte';
import type { ContentType } from '../../../type/definition';

export type Preview = Schema['Preview'];

/** What a front end posts to the page when it reads the draft again by itself. */
export const PREVIEW_READY = 'cms-preview-ready';
/** What the page posts to such a front end after a save. */
export const PREVIEW_SAVED = 'cms-preview-saved';

/** The caller may have a preview of objects of this type. */
export function hasPreview(type: ContentType): boolean {
  return Boolean(type.admin.previewUrl) && session.context?.user.role !== 'viewer';
}

/** The preview may stand in a frame of this page: same origin, or an origin that the operator allows. */
export function isEmbeddable(type: ContentType): boolean {
  const target = type.admin.previewUrl ?? '';
  const origins = session.context?.features.previewOrigins ?? [];
  return (
    target.startsWith('/') || origins.some((origin) => target === origin || target.startsWith(`${origin}/`))
  );
}

export function requestPreview(contentType: string, id: string): Promise<ApiResult<Preview>> {
  return sendRequest(api.POST('/api/v1/preview', { body: { contentType, id } }));
}

/** The scale at which a page of a width fits; the width of a place is 0 before it is laid out. */
export function scaleFor(width: number, place: number): number {
  return place === 0 || width <= place ? 1 : place / width;
}
