import { describe, expect, it } from 'vitest';
import type { ContentType } from '../type/definition';
import { isPublic, isPublishing, mayBeScheduled, permission } from './publish-rules';

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
  it.each([
    [{ draftPublic: true, restrictsReaders: true }, { status: 'modified' }, true],
    [{ draftPublic: true, restrictsReaders: true }, { status: 'draft' }, false],
    [{ draftPublic: false, restrictsReaders: true }, { workflowPublicVersion: 3 }, true],
    [{ draftPublic: false, restrictsReaders: true }, { workflowPublicVersion: '' }, false],
    [{ draftPublic: false, restrictsReaders: false }, {}, true],
  ])('knows which objects readers see: %j %j', (type, internal, expected) => {
    expect(isPublic(type as ContentType, internal)).toBe(expected);
  });
  it('knows the transitions that readers see', () => {
    expect(isPublishing({ from: 'review', to: 'public' })).toBe(true);
    expect(isPublishing({ from: 'public', to: 'archive' })).toBe(true);
    expect(isPublishing({ from: 'draft', to: 'review' })).toBe(false);
  });
});
