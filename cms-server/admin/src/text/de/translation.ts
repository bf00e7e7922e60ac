// Übersetzungen eines Objekts.
import type { Texts } from '..';

export const translation: Texts['translation'] = {
  languages: 'Sprachen',
  add: 'Sprache hinzufügen',
  original: 'Original',
  empty: 'leer',
  translated: 'übersetzt',
  older: 'älter als das Original',
  copy: (field) => `${field} aus dem Original übernehmen`,
  copyShort: 'Aus dem Original übernehmen',
  remove: (language) => `${language} entfernen`,
  progress: (done, count) => `${String(done)}/${String(count)}`,
  progressOf: (language, done, count) =>
    `${language}, ${String(done)} von ${String(count)} Eigenschaften übersetzt`,
  none: 'Es gibt noch keine Übersetzungen.',
  removed: (language) => `${language} wurde entfernt.`,
  withoutLanguage: 'ohne Sprache',
};
