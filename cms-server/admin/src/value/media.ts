// Files of the media library: the properties of an object of the type _media, and the addresses of its images.
import { isRecord } from './record';

export interface MediaFile {
  id: string;
  fileName: string;
  extension: string;
  mimeType: string;
  isImage: boolean;
  width: number;
  height: number;
  size: number;
  alt: string;
  title: string;
  createdAt: string;
}

/** Parts of a _media object that `readMedia` needs, for `fields[]`. */
export const MEDIA_FIELDS = [
  'fileName',
  'extension',
  'mimeType',
  'type',
  'width',
  'height',
  'size',
  'alt',
  'title',
  'internal.createdAt',
];

/** Reads an object of the type _media without trusting its structure. */
export function readMedia(object: Record<string, unknown>): MediaFile {
  const text = (name: string) => (typeof object[name] === 'string' ? object[name] : '');
  const number = (name: string) => (typeof object[name] === 'number' ? object[name] : 0);
  const internal = isRecord(object.internal) ? object.internal : {};
  return {
    id: text('id'),
    fileName: text('fileName'),
    extension: text('extension'),
    mimeType: text('mimeType'),
    isImage: text('type') === 'image',
    width: number('width'),
    height: number('height'),
    size: number('size'),
    alt: text('alt'),
    title: text('title'),
    createdAt: typeof internal.createdAt === 'string' ? internal.createdAt : '',
  };
}

export interface Rendering {
  width?: number;
  height?: number;
  /** `webp`, `avif`, `jpeg`, `png` or `auto`; without it the stored format. */
  format?: string;
  /** Name of a stored crop. */
  variant?: string;
}

/** The path of an image in a size and format. */
export function imagePath(file: { id: string; extension: string }, rendering: Rendering = {}): string {
  const { width = 0, height = 0, format, variant } = rendering;
  const size = `${String(width)}x${String(height)}`;
  const name = `${encodeURIComponent(file.id)}.${encodeURIComponent(file.extension)}`;
  const crop = variant === undefined ? '' : `/variant/${encodeURIComponent(variant)}`;
  return `/image/${size}/${name}${crop}${format ? `?format=${format}` : ''}`;
}

/** The path of a small image for lists; SVG and icons are sent as they are. */
export function thumbnailPath(file: { id: string; extension: string }): string {
  return imagePath(file, { width: 240, format: 'webp' });
}

/** Reads id and extension of a file from the path in its property `url`. */
export function fileOfUrl(url: unknown): { id: string; extension: string } | null {
  if (typeof url !== 'string') return null;
  const [, id, extension] = /\/(_media-[^/]+)\.([^./]+)$/.exec(url) ?? [];
  return id && extension ? { id, extension } : null;
}

/** A size in bytes for people. */
export function byteSize(bytes: number, language: string): string {
  if (bytes < 1024) return `${new Intl.NumberFormat(language).format(bytes)}\u00a0B`;
  const units = ['kilobyte', 'megabyte', 'gigabyte'];
  const step = Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: units[step - 1] ?? 'kilobyte',
    unitDisplay: 'short',
    maximumFractionDigits: step < 2 ? 0 : 1,
  }).format(bytes / 1024 ** step);
}

/**
 * The files of a paste or a drop; none of a paste of text into a text control: programs such as spreadsheets copy a
 * image of the text, too.
 */
export function filesOf(event: ClipboardEvent | DragEvent): File[] {
  if (!(event instanceof ClipboardEvent)) return [...(event.dataTransfer?.files ?? [])];
  const { clipboardData: data, target } = event;
  const isTextControl = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
  return isTextControl && data?.getData('text/plain') ? [] : [...(data?.files ?? [])];
}
