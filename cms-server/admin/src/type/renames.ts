// Suggests that a new property is a removed one under another name. Knows drafts, no screen.
import { string } from './definition';
import { isEqual } from '../value/equal';
import {
  propertyKindOf,
  newProperty,
  withKind,
  withRequired,
  type Json,
  type PropertyDraft,
} from './property-draft';
import { renameProperty, type TypeDraft } from './type-draft';

/** A removed property, and a new property that may be the same one under another name. */
export interface Rename {
  removed: PropertyDraft;
  added: PropertyDraft;
}

export const pairName = ({ removed, added }: Rename): string =>
  `${removed.stored?.name ?? removed.name}>${added.name}`;

/** The similarity of two names by their edit distance, without case: 1 for equal names, 0 at least. */
export function similarity(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  if (left === '' || right === '') return 0;
  let row = Array.from({ length: right.length + 1 }, (_none, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return 1 - (row.at(-1) ?? 0) / Math.max(left.length, right.length);
}

/** Pairs of a removed and a new property of the same kind, the most similar names first; each only once. */
export function suggestRenames(properties: PropertyDraft[], different: string[]): Rename[] {
  const removed = properties.filter((property) => property.removed && property.stored);
  const added = properties.filter(
    (property) => !property.removed && !property.stored && string(property.config.renamedFrom) === null,
  );
  const pairs = removed
    .flatMap((old) =>
      added
        .filter(({ config }) => config.inputType === old.config.inputType)
        .map((other) => ({
          removed: old,
          added: other,
        })),
    )
    .filter((pair) => !different.includes(pairName(pair)))
    .sort((a, b) => closeness(b) - closeness(a));
  const used = new Set<PropertyDraft>();
  return pairs.filter((pair) => {
    if (used.has(pair.removed) || used.has(pair.added)) return false;
    used.add(pair.removed).add(pair.added);
    return true;
  });
}

const closeness = ({ removed, added }: Rename): number => similarity(removed.stored?.name ?? '', added.name);

/**
 * The removed property continues under the name of the new one: with its values, its settings, its place and
 * everything that names it. What the user typed for the new one is taken over.
 */
export function acceptRename(draft: TypeDraft, { removed, added }: Rename): TypeDraft {
  const continued = draft.properties.flatMap((property) => {
    if (property.key === added.key) return [];
    return [property.key === removed.key ? withSettingsOf(added, property) : property];
  });
  return renameProperty({ ...draft, properties: continued }, removed.key, added.name);
}

function withSettingsOf(added: PropertyDraft, removed: PropertyDraft): PropertyDraft {
  const choice = propertyKindOf(added);
  const fresh = newProperty(choice, added.name);
  const base = propertyKindOf(removed) === choice ? removed : withKind(removed, choice);
  const typed = (own: Json, untouched: Json) =>
    Object.fromEntries(Object.entries(own).filter(([key, value]) => !isEqual(value, untouched[key])));
  const property = {
    ...base,
    removed: false,
    schema: { ...base.schema, ...typed(added.schema, fresh.schema) },
    config: { ...base.config, ...typed(added.config, fresh.config), label: added.config.label },
  };
  return withRequired(property, removed.required || added.required);
}
