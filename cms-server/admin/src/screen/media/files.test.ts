import { describe, expect, it } from 'vitest';
import { conditionsOf } from './files';

const none = { words: '', kind: '', tag: '', withoutAlt: false };

describe('filters of the media library', () => {
  it('are conditions of the API', () => {
    expect(conditionsOf(none)).toEqual({});
    expect(conditionsOf({ ...none, kind: 'file', tag: 'a b' })).toEqual({
      type: { type: 'equals', filter: 'file' },
      'tags[*].dataUrl': { type: 'equals', filter: '/api/v1/content/_tag/a%20b' },
    });
  });

  it('find files without an alternative text among images only', () => {
    expect(conditionsOf({ ...none, withoutAlt: true })).toEqual({
      type: { type: 'equals', filter: 'image' },
      alt: { type: 'empty' },
    });
  });
});
