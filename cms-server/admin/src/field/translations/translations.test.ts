import { describe, expect, it } from 'vitest';
import { languageOf, languagesFor, stateOf } from './translations';

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

  it('are found by name and by code', () => {
    expect(languagesFor('germ', [], 'en')[0]).toEqual({ key: 'de', label: 'German (de)' });
    expect(languagesFor('de', [], 'en')[0]?.key).toBe('de');
    expect(languagesFor('pt-BR', [], 'en').map(({ key }) => key)).toContain('pt-BR');
    expect(languagesFor('', ['de'], 'en').map(({ key }) => key)).not.toContain('de');
    expect(languagesFor('<script>', [], 'en')).toEqual([]);
  });

  it('name their language', () => {
    expect(languageOf({ __language: 'de' })).toBe('de');
    expect(languageOf({})).toBe('');
    expect(languageOf(null)).toBe('');
  });
});
