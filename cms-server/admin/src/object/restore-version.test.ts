import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../type/test-fields';
import { valuesBefore, valuesOfVersion } from './restore-version';

describe('values of an earlier version in the form', () => {
  it('remove properties that it did not have', () => {
    expect(valuesOfVersion({ title: 'New', note: 'x' }, { title: 'Old' }, [])).toEqual({
      title: 'Old',
      note: undefined,
    });
  });

  it('have the names that the properties have now', () => {
    const fields = [fieldNamed('headline', { oldName: 'title' })];
    expect(valuesOfVersion({ headline: 'New' }, { title: 'Old' }, fields)).toEqual({ headline: 'Old' });
  });

  it('can be taken out again: typed text comes back', () => {
    const typed = { title: 'Typed', note: 'x' };
    const restored = { title: 'Old', note: undefined };
    expect(valuesBefore({ title: 'Old' }, restored, typed)).toEqual(typed);
  });

  it('stay where the user has typed since', () => {
    const restored = { title: 'Old', body: 'Old' };
    const now = { title: 'Old and more', body: 'Old' };
    expect(valuesBefore(now, restored, { title: 'Typed', body: 'Typed' })).toEqual({ body: 'Typed' });
  });
});
