// The URL of a link from a text to an object: the URL of the object on the website, else its URL in the API.
import { typeNamed } from '../session/session.svelte';
import { linkTo } from '../value/link';
import { imagePath } from '../value/media';
import { websiteUrl } from '../value/website-url';
import { readObject } from './object-requests';
import { MEDIA_TYPE, type Summary } from './summary';

export async function linkUrl({ type, id, file }: Summary): Promise<string> {
  if (type === MEDIA_TYPE && file) return imagePath(file);
  const template = typeNamed(type)?.admin.previewUrl ?? null;
  const read = template === null ? null : await readObject(type, id);
  const url = template !== null && read && 'data' in read ? websiteUrl(template, read.data) : null;
  return url ?? linkTo(type, id).dataUrl;
}
