// Crop rectangles, as the API stores them: top and left, with width and height or with right and bottom.
import { isRecord } from '../../value/record';

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}
type Size = Pick<Rectangle, 'width' | 'height'>;

/** The area that a stored trim leaves of an image, by the rules of the server. */
export function rectangleOf(trim: unknown, image: Size): Rectangle | null {
  if (!isRecord(trim)) return null;
  const part = (name: string) => {
    const value = trim[name];
    return typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : null;
  };
  const [top, left, right, bottom] = [part('top') ?? 0, part('left'), part('right'), part('bottom')];
  const [width, height] = [part('width'), part('height')];
  const x = left ?? (width !== null && right !== null ? image.width - right - width : 0);
  const w = width ?? image.width - x - (right ?? 0);
  const h = height ?? image.height - top - (bottom ?? 0);
  return inside({ left: x, top, width: w, height: h }, image);
}

/** The rectangle in whole pixels, moved and cut so that it is in the image and at least one pixel large. */
export function inside(rectangle: Rectangle, image: Size): Rectangle {
  const width = Math.max(1, Math.min(Math.round(rectangle.width), image.width));
  const height = Math.max(1, Math.min(Math.round(rectangle.height), image.height));
  return {
    left: Math.max(0, Math.min(Math.round(rectangle.left), image.width - width)),
    top: Math.max(0, Math.min(Math.round(rectangle.top), image.height - height)),
    width,
    height,
  };
}

/** The rectangle with another size, limited by the edges of the image; its upper left corner stays. */
export function resized(rectangle: Rectangle, width: number, height: number, image: Size): Rectangle {
  return inside(
    {
      ...rectangle,
      width: Math.min(width, image.width - rectangle.left),
      height: Math.min(height, image.height - rectangle.top),
    },
    image,
  );
}

/** The value to store, without `right` and `bottom`; members that are no part of the rectangle stay. */
export function trimWith(trim: unknown, rectangle: Rectangle): Record<string, unknown> {
  const { right: _right, bottom: _bottom, ...others } = isRecord(trim) ? trim : {};
  const { left, top, width, height } = rectangle;
  return { ...others, top, left, width, height };
}

/** A stored focal point; null is the centre. */
export function focusOf(value: unknown): { x: number; y: number } | null {
  if (!isRecord(value) || typeof value.x !== 'number' || typeof value.y !== 'number') return null;
  return { x: fraction(value.x), y: fraction(value.y) };
}

/** The value limited to 0 to 1, rounded to thousandths. */
export function fraction(value: number): number {
  return Math.round(Math.max(0, Math.min(1, value)) * 1000) / 1000;
}
