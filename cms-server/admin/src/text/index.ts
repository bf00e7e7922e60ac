// The texts of the page in the language of the user. Each area of texts, such as `t.list`, is loaded when it is
// needed: the build changes each `import('./X')` so that it also waits for the texts of `X` (../../texts.ts).
import { readLocal, writeLocal } from '../value/local-storage';
import { de } from './de';
import { en } from './en';

type English = typeof en;
export type Area = keyof English;
type Module<A extends Area> = Awaited<ReturnType<English[A]>>;
/** What a language consists of: the same files, with the same texts. */
export type Sources = { [A in Area]: () => Promise<Module<A>> };
type Merged<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void
  ? All
  : never;
export type Texts = Merged<Module<Area>>;

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const SOURCES: Record<Language, Sources> = { en, de };
const STORAGE_KEY = 'cms.language';

export const t: Texts = Object.create(null);
export let language: Language = 'en';
/** The language with the region of the browser: how numbers and times are written. */
export let locale = 'en';

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in LANGUAGES;
}

/** The language chosen in this browser, else the first one of the browser that the page knows. */
export function preferredLanguage(): Language {
  const stored = readLocal(STORAGE_KEY);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en';
}

export function storeLanguage(chosen: Language): void {
  writeLocal(STORAGE_KEY, chosen);
}

/** Sets the language; called once, before any text is loaded. */
export function useLanguage(chosen: Language): void {
  language = chosen;
  locale = navigator.languages.find((tag) => tag === chosen || tag.startsWith(`${chosen}-`)) ?? chosen;
  document.documentElement.lang = chosen;
}

const loading = new Map<Area, Promise<void>>();

function loadArea(area: Area): Promise<void> {
  const started = loading.get(area);
  if (started) return started;
  const promise = SOURCES[language][area]().then(
    (texts) => void Object.assign(t, texts),
    (error: unknown) => {
      loading.delete(area);
      throw error;
    },
  );
  loading.set(area, promise);
  return promise;
}

/** Loads the texts of areas, each once. */
export async function loadTexts(areas: readonly Area[]): Promise<void> {
  await Promise.all(areas.map(loadArea));
}

/** A module together with its texts. The build writes calls of this function (../../texts.ts). */
export async function withTexts<T>(areas: readonly Area[], module: Promise<T>): Promise<T> {
  const [loaded] = await Promise.all([module, loadTexts(areas)]);
  return loaded;
}
