import { describe, expect, it } from 'vitest';
import { languagesFor } from './translations';

describe('translations', () => {
  it('are found by name and by code', () => {
    expect(languagesFor('germ', [], 'en')[0]).toEqual({ key: 'de', label: 'German (de)' });
    expect(languagesFor('de', [], 'en')[0]?.key).toBe('de');
    expect(languagesFor('pt-BR', [], 'en').map(({ key }) => key)).toContain('pt-BR');
    expect(languagesFor('', ['de'], 'en').map(({ key }) => key)).not.toContain('de');
    expect(languagesFor('<script>', [], 'en')).toEqual([]);
  });
});
