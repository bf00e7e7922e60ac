// The texts of the page in the language of the user. `t` is replaced once, before the page is mounted.
import { readLocal, writeLocal } from '../value/local';
import { en } from './en';

export type Texts = typeof en;
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = 'cms.language';

export let t: Texts = en;
export let language: Language = 'en';
/** The language with the region of the browser: how numbers and times are written. */
export let locale = 'en';

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in LANGUAGES;
}

/** The language chosen in this browser, else the first one of the browser that the page knows. */
export function preferredLanguage(): Language {
  const stored = readLocal(STORED);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en';
}

export function storeLanguage(chosen: Language): void {
  writeLocal(STORED, chosen);
}

/** Loads the texts of a language. */
export async function loadTexts(chosen: Language): Promise<void> {
  if (chosen === 'de') t = (await import('./de')).de;
  language = chosen;
  locale = navigator.languages.find((tag) => tag === chosen || tag.startsWith(`${chosen}-`)) ?? chosen;
  document.documentElement.lang = chosen;
}
