// The state and the progress of the translations of an object. Plain values.
import { record } from '../type/definition';
import type { Field } from '../type/form';
import { isEqual } from '../value/equal';
import { isRecord } from '../value/record';
import type { Values } from './form-state.svelte';

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

/** The values of a property and of its translation: in the form, and as stored. */
export interface Sides {
  original: unknown;
  storedOriginal: unknown;
  translated: unknown;
  storedTranslated: unknown;
}

/** `older`: the original was changed since the object was stored, and the translation was not. */
export function stateOf({ original, storedOriginal, translated, storedTranslated }: Sides): TranslationState {
  if (isEmpty(translated)) return 'empty';
  const changed = storedOriginal !== undefined && !isEqual(original, storedOriginal);
  return changed && isEqual(translated, storedTranslated) ? 'older' : 'translated';
}

/** The properties of a translation that people write. */
export function translatedFields(translations: Field): Field[] {
  return translations.fields.filter((field) => field.name !== LANGUAGE && !field.hidden);
}

export interface Progress {
  done: number;
  all: number;
}

/** Number of translated properties, and of all properties that have a value in the original. */
export function progressOf(
  translations: Field,
  item: unknown,
  values: Values,
  stored: Values | null,
): Progress {
  const storedItem = listOf(stored, translations).find((one) => languageOf(one) === languageOf(item));
  const states = translatedFields(translations)
    .filter(({ name }) => !isEmpty(values[name]))
    .map(({ name }) =>
      stateOf({
        original: values[name],
        storedOriginal: stored?.[name],
        translated: record(item)[name],
        storedTranslated: record(storedItem)[name],
      }),
    );
  return { done: states.filter((state) => state === 'translated').length, all: states.length };
}

/** Number of languages that are translated completely, and of all languages. */
export function languagesDone(translations: Field, values: Values, stored: Values | null): Progress {
  const items = listOf(values, translations);
  const complete = items.filter((item) => {
    const { done, all } = progressOf(translations, item, values, stored);
    return done === all;
  });
  return { done: complete.length, all: items.length };
}

const listOf = (values: Values | null, { name }: Field): unknown[] => {
  const list = values?.[name];
  return Array.isArray(list) ? list : [];
};
