import { describe, expect, it } from 'vitest';
import { linksOf, storedDate } from './cells';

describe('a cell', () => {
  it('shows linked objects by title, and a link without its object by id', () => {
    const links = linksOf([
      { id: 'maren', internal: { contentType: 'author', objectTitle: 'Maren' } },
      { type: 'internal', dataUrl: '/api/v1/content/author/n%20a' },
      { id: '_media-x', url: '/image/0x0/_media-x.png', type: 'image', internal: { objectTitle: '' } },
    ]);
    expect(links).toEqual([
      { id: 'maren', title: 'Maren', image: null },
      { id: 'n a', title: 'n a', image: null },
      { id: '_media-x', title: '_media-x', image: '/image/240x0/_media-x.png?format=webp' },
    ]);
  });

  it('shows a stored date in every time zone as the same day', () => {
    expect(storedDate('2026-01-02')).toBe('Jan 2, 2026');
    expect(storedDate('2026-01-02T03:04')).toMatch(/^Jan 2, 2026, 3:04\sAM$/);
    expect(storedDate('soon')).toBe('soon');
  });
});
