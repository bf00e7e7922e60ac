// Translations of an object.
export const translation = {
  languages: 'Languages',
  add: 'Add a language',
  original: 'Original',
  empty: 'empty',
  translated: 'translated',
  older: 'older than the original',
  copy: (field: string) => `Copy ${field} from the original`,
  copyShort: 'Copy from the original',
  remove: (language: string) => `Remove ${language}`,
  progress: (done: number, count: number) => `${String(done)}/${String(count)}`,
  progressOf: (language: string, done: number, count: number) =>
    `${language}, ${String(done)} of ${String(count)} properties translated`,
  none: 'There are no translations yet.',
  removed: (language: string) => `${language} was removed.`,
  withoutLanguage: 'without a language',
};
