import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../type/test-fields';
import { LANGUAGE, languageOf, languagesDone, progressOf, stateOf } from './translation-state';

const same = { original: 'a', storedOriginal: 'a', translated: 'x', storedTranslated: 'x' };

describe('translations', () => {
  it('are older when only the original was changed', () => {
    expect(stateOf(same)).toBe('translated');
    expect(stateOf({ ...same, original: 'b' })).toBe('older');
    expect(stateOf({ ...same, original: 'b', translated: 'y' })).toBe('translated');
    expect(stateOf({ ...same, translated: '' })).toBe('empty');
    expect(stateOf({ ...same, translated: [] })).toBe('empty');
    expect(stateOf({ ...same, storedOriginal: undefined })).toBe('translated');
  });

  it('name their language', () => {
    expect(languageOf({ __language: 'de' })).toBe('de');
    expect(languageOf({})).toBe('');
    expect(languageOf(null)).toBe('');
  });

  it('are done when each property with a value in the original is translated', () => {
    const field = fieldNamed('__translations', {
      fields: [fieldNamed(LANGUAGE), fieldNamed('title'), fieldNamed('lead')],
    });
    const items = [
      { [LANGUAGE]: 'de', title: 'Boot', lead: 'Ein Boot' },
      { [LANGUAGE]: 'fr', title: 'Bateau' },
    ];
    const values = { title: 'Boat', lead: 'A boat', __translations: items };
    expect(languagesDone(field, values, values)).toEqual({ done: 1, all: 2 });
    expect(languagesDone(field, { ...values, lead: '' }, values)).toEqual({ done: 2, all: 2 });
    expect(languagesDone(field, { ...values, lead: 'Another' }, values)).toEqual({ done: 0, all: 2 });
    expect(languagesDone(field, { title: 'Boat' }, null)).toEqual({ done: 0, all: 0 });
    expect(progressOf(field, items[1], values, values)).toEqual({ done: 1, all: 2 });
    expect(progressOf(field, items[1], { ...values, lead: '' }, values)).toEqual({ done: 1, all: 1 });
  });
});
