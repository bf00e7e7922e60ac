import { describe, expect, it } from 'vitest';
import { refusalBeforeSending } from './uploads.svelte';

const limits = { fileBytes: 100, mediaTypes: ['image/png'] };

describe('uploads', () => {
  it.each([
    [{ size: 10, type: 'image/png' }, false, null],
    [{ size: 10, type: '' }, false, null],
    [{ size: 0, type: 'image/png' }, false, { kind: 'empty' }],
    [{ size: 101, type: 'image/png' }, false, { kind: 'size', limit: 100 }],
    [{ size: 101, type: 'image/png' }, true, { kind: 'size', limit: 100 }],
    [{ size: 10, type: 'video/quicktime' }, false, { kind: 'type' }],
    [{ size: 10, type: 'video/quicktime' }, true, null],
  ])('refuses %j before sending (again: %s): %j', (file, insisted, expected) => {
    expect(refusalBeforeSending(file, limits, insisted)).toEqual(expected);
  });
});
