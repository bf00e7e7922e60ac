import { describe, expect, it } from 'vitest';
import { byteSize, fileOfUrl, imagePath, readMedia, thumbnailPath } from './media';

const file = { id: '_media-1', extension: 'png' };

describe('media', () => {
  it('builds the addresses of images', () => {
    expect(imagePath(file)).toBe('/image/0x0/_media-1.png');
    expect(imagePath(file, { width: 800, height: 600, format: 'avif', variant: 'square' })).toBe(
      '/image/800x600/_media-1.png/variant/square?format=avif',
    );
    expect(thumbnailPath(file)).toBe('/image/240x0/_media-1.png?format=webp');
    expect(imagePath({ id: '_media-a b', extension: 'p?g' })).toBe('/image/0x0/_media-a%20b.p%3Fg');
  });

  it('reads the file of an address', () => {
    expect(fileOfUrl('/image/0x0/_media-1.png')).toEqual(file);
    expect(fileOfUrl('/other')).toBeNull();
    expect(fileOfUrl(1)).toBeNull();
  });

  it('reads damaged objects without failing', () => {
    expect(readMedia({ id: '_media-1', fileName: 7, size: 'x' })).toMatchObject({
      fileName: '',
      size: 0,
      isImage: false,
    });
  });

  it.each([
    [0, '0\u00a0B'],
    [417, '417\u00a0B'],
    [1536, '2 kB'],
    [10_485_760, '10 MB'],
    [27_441_234, '26.2 MB'],
  ])('writes %d bytes as %s', (bytes, expected) => {
    expect(byteSize(bytes, 'en')).toBe(expected);
  });
});
