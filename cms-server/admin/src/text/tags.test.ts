import { describe, expect, it } from 'vitest';
import { nextTag } from './tags';

function namesIn(html: string): (string | null)[] {
  const names: (string | null)[] = [];
  for (let tag = nextTag(html, 0); tag; tag = nextTag(html, tag.end)) {
    names.push(tag.name && (tag.closing ? `/${tag.name}` : tag.name));
  }
  return names;
}

describe('tags', () => {
  it('finds tags and comments, also with quoted angle brackets', () => {
    expect(namesIn('a < b <P class="x > y">c</p ><!-- <i> --><br/>')).toEqual(['p', '/p', null, 'br']);
    expect(nextTag('<a href="/x" b>', 0)?.attributes).toBe('href="/x" b');
  });

  it('ignores tags and comments that do not end', () => {
    expect(namesIn('<b>a</b> <i title="x>y</i>')).toEqual(['b', '/b']);
    expect(namesIn('<!-- <b>')).toEqual([]);
  });

  it('reads hostile texts in linear time', () => {
    const start = performance.now();
    for (const part of ['<', '<a', '<a "', "<a '", '<!--', '</', '<a <']) {
      namesIn(part.repeat(200_000));
      namesIn(`<${'a'.repeat(400_000)}${part}`);
    }
    // Quadratic time would be minutes.
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
