// Links between objects, as the API stores them: `{type: "internal", dataUrl: "/api/v1/content/<type>/<id>"}`.
import { isRecord } from './record';
import { decoded } from './url';

export interface Link {
  dataUrl: string;
  type: 'internal' | 'external';
}

/** The object that an internal link names. */
export interface Target {
  type: string;
  id: string;
}

const CONTENT_PATH = '/api/v1/content/';

/** The link to an object; the id is encoded, because it may have spaces and special characters. */
export function linkTo(type: string, id: string): Link {
  return { dataUrl: `${CONTENT_PATH}${type}/${encodeURIComponent(id)}`, type: 'internal' };
}

/** The object that a stored link names; null for external and damaged links. */
export function targetOf(link: unknown): Target | null {
  if (!isRecord(link) || link.type === 'external' || typeof link.dataUrl !== 'string') return null;
  return targetOfPath(link.dataUrl);
}

/** The object that an address inside the API names; null for other addresses. */
export function targetOfPath(path: string): Target | null {
  const [type, id, ...rest] = path.startsWith(CONTENT_PATH) ? path.slice(CONTENT_PATH.length).split('/') : [];
  if (!type || !id || rest.length > 0) return null;
  return { type, id: decoded(id) };
}

/** A key that identifies a target; ids that differ only in letter case are the same. */
export function targetKey({ type, id }: Target): string {
  return `${type}/${id.toLowerCase()}`;
}

/** The address that an external link holds. */
export function addressOf(link: unknown): string | null {
  if (!isRecord(link) || link.type !== 'external') return null;
  return typeof link.dataUrl === 'string' ? link.dataUrl : '';
}

const OBJECT_URL = /\/(?:api\/v1\/content|admin\/c)\/([_a-z]+)\/([^/?#\s]+)/;
const FILE_URL = /\/admin\/media\/([^/?#\s]+)/;

/** Reads what people paste: a link of the API or of this page to an object. */
export function targetOfUrl(text: string): Target | null {
  const [, type, id] = OBJECT_URL.exec(text) ?? ['', '_media', FILE_URL.exec(text)?.[1]];
  return type && id && id !== '+new' ? { type, id: decoded(id) } : null;
}
