// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { isOwnImage, isSafeUrl } from './url';

describe('addresses in contents', () => {
  it.each([
    'https://example.org',
    'HTTP://example.org',
    'mailto:a@example.org',
    'tel:+4912345',
    '/posts/1',
    '#x',
    'a/b',
    '',
    '?q=1',
  ])('makes %j a link', (url) => expect(isSafeUrl(url)).toBe(true));

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/1',
    'https://[',
  ])('shows %j as text', (url) => expect(isSafeUrl(url)).toBe(false));

  it('loads images of this server only', () => {
    expect(isOwnImage('/image/0x0/a.png')).toBe(true);
    expect(isOwnImage(`${location.origin}/media/a.png`)).toBe(true);
    expect(isOwnImage('https://tracker.example/a.png')).toBe(false);
    expect(isOwnImage('//tracker.example/a.png')).toBe(false);
    expect(isOwnImage('data:image/png;base64,AAAA')).toBe(false);
    expect(isOwnImage('')).toBe(false);
  });
});
