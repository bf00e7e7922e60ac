import { describe, expect, it } from 'vitest';
import { isPublishing, mayBeScheduled, permission } from './publish-rules';

describe('publishing', () => {
  it.each([
    ['draft', 'allowed done refused'],
    ['public', 'done allowed allowed'],
    ['modified', 'allowed allowed allowed'],
    ['archived', 'allowed refused done'],
  ] as const)('offers for %s what the server accepts', (status, expected) => {
    const found = (['publish', 'unpublish', 'archive'] as const).map((action) => permission(status, action));
    expect(found.join(' ')).toBe(expected);
  });
  it('schedules drafts and edited objects only', () => {
    expect((['draft', 'public', 'modified', 'archived'] as const).filter(mayBeScheduled)).toEqual([
      'draft',
      'modified',
    ]);
  });
  it('knows the transitions that readers see', () => {
    expect(isPublishing({ from: 'review', to: 'public' })).toBe(true);
    expect(isPublishing({ from: 'public', to: 'archive' })).toBe(true);
    expect(isPublishing({ from: 'draft', to: 'review' })).toBe(false);
  });
});
