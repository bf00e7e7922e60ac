// The property in which a search found an object, when its title does not show the searched words.
import { formFor, typeNamed } from '../session/session.svelte';
import { excerptOf, wordsFound, type TextPart } from '../value/matched-text';
import { searchedFields } from './title-fields';

export interface SearchMatch {
  /** Label of the property. */
  label: string;
  excerpt: TextPart[];
}

export function matchOf(
  type: string,
  object: Record<string, unknown>,
  title: string,
  search: string,
): SearchMatch | null {
  const definition = typeNamed(type);
  if (!definition) return null;
  const inTitle = wordsFound(title, search);
  let best: SearchMatch | null = null;
  let maxFurther = 0;
  for (const field of searchedFields(formFor(definition))) {
    const text = textOf(object[field.name]);
    const further = [...wordsFound(text, search)].filter((word) => !inTitle.has(word)).length;
    const excerpt = further > maxFurther ? excerptOf(text, search) : null;
    if (!excerpt) continue;
    best = { label: field.label, excerpt };
    maxFurther = further;
  }
  return best;
}

function textOf(value: unknown): string {
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
  return texts.join(', ');
}
