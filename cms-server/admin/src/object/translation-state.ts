// How far the translations of an object are. Plain values.
import type { Field } from '../type/form';
import { isEqual } from '../value/equal';
import { isRecord } from '../value/record';
import type { Values } from './draft.svelte';

/** The member of a translation that names its language. */
export const LANGUAGE = '__language';

export type TranslationState = 'empty' | 'translated' | 'older';

export function languageOf(item: unknown): string {
  return isRecord(item) && typeof item[LANGUAGE] === 'string' ? item[LANGUAGE] : '';
}

export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Where the values of an object and of a translation stand now, and where they stood when it was stored. */
export interface Sides {
  original: unknown;
  storedOriginal: unknown;
  translated: unknown;
  storedTranslated: unknown;
}

/** A translation is older when the original was changed since it was stored, and the translation was not. */
export function stateOf({ original, storedOriginal, translated, storedTranslated }: Sides): TranslationState {
  if (isEmpty(translated)) return 'empty';
  const changed = storedOriginal !== undefined && !isEqual(original, storedOriginal);
  return changed && isEqual(translated, storedTranslated) ? 'older' : 'translated';
}

/** The properties of a translation that people write. */
export function translatedFields(translations: Field): Field[] {
  return translations.fields.filter((field) => field.name !== LANGUAGE && !field.hidden);
}

/** How many languages have a translation of all that the original says, and how many there are. */
export function translationCount(
  translations: Field,
  values: Values,
  stored: Values | null,
): { done: number; all: number } {
  const listOf = (from: Values | null): unknown[] => {
    const list = from?.[translations.name];
    return Array.isArray(list) ? list : [];
  };
  const items = listOf(values).filter(isRecord);
  const done = items.filter((item) => {
    const storedItem = listOf(stored).find((one) => languageOf(one) === languageOf(item));
    return translatedFields(translations).every(({ name }) => {
      if (isEmpty(values[name])) return true;
      const storedTranslated = isRecord(storedItem) ? storedItem[name] : undefined;
      const sides = { original: values[name], storedOriginal: stored?.[name], translated: item[name] };
      return stateOf({ ...sides, storedTranslated }) === 'translated';
    });
  });
  return { done: done.length, all: items.length };
}
