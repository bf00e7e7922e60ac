// Previews of an object by the front end of the site: where they may be shown, and their URL. Knows requests.
import { sendRequest, api, type ApiResult, type Schema } from '../../../api/client';
import { session } from '../../../session/session.svelte';
import type { ContentType } from '../../../type/definition';

export type Preview = Schema['Preview'];

/** A front end that reads the draft again itself posts this message to the page. */
export const PREVIEW_READY = 'cms-preview-ready';
/** The page posts this message to such a front end after a save. */
export const PREVIEW_SAVED = 'cms-preview-saved';

/** Returns whether the user may have previews of objects of this type. */
export function hasPreview(type: ContentType): boolean {
  return Boolean(type.admin.previewUrl) && session.context?.user.role !== 'viewer';
}

/** Returns whether a frame of this page may show the preview: same origin, or one that the operator allows. */
export function isEmbeddable(type: ContentType): boolean {
  const target = type.admin.previewUrl ?? '';
  const origins = session.context?.features.previewOrigins ?? [];
  return (
    target.startsWith('/') ||
    [location.origin, ...origins].some((origin) => target === origin || target.startsWith(`${origin}/`))
  );
}

export function requestPreview(contentType: string, id: string): Promise<ApiResult<Preview>> {
  return sendRequest(api.POST('/api/v1/preview', { body: { contentType, id } }));
}

/** The scale at which a page of this width fits into the available width, which is 0 before the layout. */
export function scaleFor(width: number, available: number): number {
  return available === 0 || width <= available ? 1 : available / width;
}
