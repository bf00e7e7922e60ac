// Applies the changes of a user to a definition of a type that others have changed meanwhile: property by property,
// and setting by setting. Knows no screen and no request.
import { isEqual } from '../value/equal';
import { isRecord, pick, withMember } from '../value/record';
import { record } from './definition';
import {
  propertyKindOf,
  COMMON_CONFIG,
  draftOf,
  type Json,
  type PropertyDraft,
  type StoredProperty,
} from './property-draft';
import { hasTypedText, payloadOf, propertiesOf, type TypeDraft } from './type-draft';

export function rebase(draft: TypeDraft, stored: Json): TypeDraft {
  if (draft.base === null) return draft;
  const theirs = payloadOf(stored);
  const definition = { ...theirs };
  for (const [key, value] of Object.entries(draft.definition)) {
    if (key === 'schemaDefinition' || isEqual(value, draft.base[key])) continue;
    definition[key] =
      key === 'metaDefinition'
        ? mergedMeta(record(draft.base[key]), record(value), record(theirs[key]))
        : value;
  }
  const properties = mergedLevel(propertiesOf(draft.base), draft.properties, propertiesOf(theirs));
  return { ...draft, base: theirs, definition, properties };
}

/** Rules and hints of the type; its properties are merged on their own. */
function mergedMeta(base: Json, mine: Json, theirs: Json): Json {
  const { order, propertiesConfig, ...rest } = theirs;
  const own = mergedMembers(withoutProperties(base), withoutProperties(mine), rest);
  const isEmpty = isRecord(own.admin) && Object.keys(own.admin).length === 0;
  return { ...(isEmpty ? withMember(own, 'admin', undefined) : own), order, propertiesConfig };
}

function withoutProperties({ order: _order, propertiesConfig: _configs, ...rest }: Json): Json {
  return rest;
}

/** The members of `theirs`; those that `mine` changed compared with `base` have my value. */
function mergedMembers(base: Json, mine: Json, theirs: Json): Json {
  const result: Json = {};
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const [was, own, other] = [base[key], mine[key], theirs[key]];
    const value = isEqual(own, was)
      ? other
      : isRecord(was) && isRecord(own) && isRecord(other)
        ? mergedMembers(was, own, other)
        : own;
    if (value !== undefined) result[key] = value;
  }
  return result;
}

function isUntouched(property: PropertyDraft): boolean {
  const { stored, name, required, schema, config, items, removed } = property;
  return (
    stored !== null &&
    !removed &&
    !hasTypedText([property]) &&
    stored.name === name &&
    stored.required === required &&
    isEqual(stored.schema, schema) &&
    isEqual(stored.config, config) &&
    (items ?? []).every(isUntouched) &&
    (items ?? []).length === (draftOf(stored).items ?? []).length
  );
}

function mergedLevel(base: PropertyDraft[], mine: PropertyDraft[], theirs: PropertyDraft[]): PropertyDraft[] {
  const known = new Set(mine.flatMap(({ stored }) => stored?.name ?? []));
  const result = mine.flatMap((property): PropertyDraft[] => {
    const name = property.stored?.name ?? property.name;
    const now: StoredProperty | null = theirs.find((other) => other.name === name)?.stored ?? null;
    // A property that the user added is merged with one of the same name that others added, unless that is the old name
    // of a stored property in this draft.
    if (property.stored === null) return [{ ...property, stored: known.has(name) ? null : now }];
    if (isUntouched(property)) return now ? [{ ...draftOf(now), key: property.key }] : [];
    if (now === null) return property.removed ? [] : [{ ...property, stored: null }];
    return [property.removed ? { ...property, stored: now } : mergedProperty(property.stored, property, now)];
  });
  const added = theirs.filter(({ name }) => !known.has(name) && !result.some((own) => own.name === name));
  const before = base.map(({ name }) => name);
  const isReordered = mine.flatMap(({ stored }) => stored?.name ?? []).join() !== before.join();
  return isReordered ? [...result, ...added] : inOrder([...result, ...added], theirs);
}

/**
 * Merges the settings of a property: those that the user changed come from `mine`, the others from `now`. A changed
 * kind comes with its limits: from `mine` if the user changed the kind, else from `now`.
 */
function mergedProperty(base: StoredProperty, mine: PropertyDraft, now: StoredProperty): PropertyDraft {
  const required = mine.required === base.required ? now.required : mine.required;
  const common = mergedMembers(
    pick(base.config, COMMON_CONFIG),
    pick(mine.config, COMMON_CONFIG),
    pick(now.config, COMMON_CONFIG),
  );
  const rest = { ...mine, required, stored: now };
  if (propertyKindOf(mine) !== propertyKindOf(base))
    return { ...rest, config: { ...mine.config, ...common } };
  if (propertyKindOf(now) !== propertyKindOf(base)) {
    const theirs = draftOf(now);
    return { ...rest, schema: theirs.schema, config: { ...theirs.config, ...common }, items: theirs.items };
  }
  const level = (stored: StoredProperty) => draftOf(stored).items ?? [];
  return {
    ...rest,
    schema: mergedMembers(base.schema, mine.schema, now.schema),
    config: mergedMembers(base.config, mine.config, now.config),
    items: mine.items && mergedLevel(level(base), mine.items, level(now)),
  };
}

/** Stored properties in the order of `theirs`; new ones stay behind the property that precedes them. */
function inOrder(properties: PropertyDraft[], theirs: PropertyDraft[]): PropertyDraft[] {
  const place = new Map(theirs.map(({ name }, index) => [name, index]));
  let last = -1;
  const places = new Map(
    properties.map((property) => {
      last = place.get(property.stored?.name ?? '') ?? last;
      return [property, last];
    }),
  );
  return properties.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}
