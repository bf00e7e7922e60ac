// A content type that is being edited: read from its definition and written back. What the user does not
// change is written as it was read. Knows no screen and no request.
import { isEqual } from '../value/equal';
import { record, records, string, strings } from './definition';
import {
  conditionOf,
  readLevel,
  withHint,
  withTypedText,
  writeLevel,
  type Json,
  type PropertyDraft,
} from './property-draft';
import { newDefinition } from './short-form';
import { withMember } from '../value/record';

/** Keys that the server sets. */
const SERVER_KEYS = ['id', 'createdAt', 'updatedAt', 'deletedAt'];

export interface TypeDraft {
  /** The definition as it was stored when editing began; null: the type is new. */
  base: Json | null;
  /** The definition with the changed settings; its properties are in `properties`. */
  definition: Json;
  properties: PropertyDraft[];
  /** Pairs `old>new` of which the user said that they are different properties. */
  different: string[];
  /** JSON that is no definition: it is kept until the user corrects it. */
  json?: string;
}

/** Makes the body of a request from a definition of a response: without the keys that the server sets. */
export function payloadOf(definition: Json): Json {
  return Object.fromEntries(Object.entries(definition).filter(([key]) => !SERVER_KEYS.includes(key)));
}

export function readDraft(stored: Json): TypeDraft {
  const base = payloadOf(stored);
  return { base, definition: base, properties: propertiesOf(base), different: [] };
}

export function newDraft(): TypeDraft {
  return { base: null, definition: newDefinition(), properties: [], different: [] };
}

export function propertiesOf(definition: Json): PropertyDraft[] {
  const schema = record(definition.schemaDefinition);
  const own = record(records(schema.allOf)[1]);
  return readLevel(
    { properties: own.properties, required: schema.required },
    record(definition.metaDefinition),
  );
}

export function writeDraft(draft: TypeDraft): Json {
  const { definition } = draft;
  const schema = record(definition.schemaDefinition);
  const [reference, own, ...more] = records(schema.allOf);
  const level = writeLevel(
    { ...record(own), required: schema.required ?? [] },
    record(definition.metaDefinition),
    draft.properties,
  );
  const { required, ...ownPart } = level.holder;
  const written: Json = {
    ...definition,
    schemaDefinition: { ...schema, allOf: [reference, ownPart, ...more], required },
    metaDefinition: level.meta,
  };
  const present = new Set(strings(level.meta.order));
  const gone = draft.properties.filter(({ removed, name }) => removed && !present.has(name));
  return gone.reduce((result, { name }) => withoutReferences(result, name), written);
}

export function isChanged(draft: TypeDraft): boolean {
  if (draft.base === null || draft.json !== undefined || hasTypedText(draft.properties)) return true;
  return JSON.stringify(writeDraft(draft)) !== JSON.stringify(draft.base);
}

/** Returns whether a property of the level, or one inside it, has typed texts that are not valid as settings. */
export function hasTypedText(level: PropertyDraft[]): boolean {
  return level.some(
    ({ removed, typed, items }) =>
      !removed && (Object.keys(typed ?? {}).length > 0 || hasTypedText(items ?? [])),
  );
}

/** Replaces the definition, for example by edited JSON: properties are recognised by their names. */
export function replaceDefinition(draft: TypeDraft, edited: Json): TypeDraft {
  const definition = payloadOf(edited);
  if (draft.base === null) return { ...newDraft(), definition, properties: asNew(propertiesOf(definition)) };
  const { base, different } = draft;
  return { base, different, definition, properties: matched(propertiesOf(definition), propertiesOf(base)) };
}

/** Edited properties with their stored state. Stored properties that are missing follow, as removed ones. */
function matched(edited: PropertyDraft[], stored: PropertyDraft[]): PropertyDraft[] {
  const names = new Set(edited.map(({ name }) => name));
  const used = new Set<string>();
  const result = edited.map((property) => {
    const oldName = string(property.config.renamedFrom);
    const same =
      stored.find(({ name }) => name === property.name) ??
      stored.find(({ name }) => name === oldName && !names.has(name) && !used.has(name));
    if (same) used.add(same.name);
    const items = property.items && matched(property.items, same?.items ?? []);
    return { ...property, key: same?.key ?? property.key, stored: same?.stored ?? null, items };
  });
  const missing = stored.filter(({ name }) => !used.has(name));
  return [...result, ...missing.map((property) => ({ ...property, removed: true }))];
}

function asNew(properties: PropertyDraft[]): PropertyDraft[] {
  return properties.map((property) => ({
    ...property,
    stored: null,
    items: property.items && asNew(property.items),
  }));
}

// References to properties, in slug rules and in the hints of the type.

/** Returns the new name of a property; null when it is removed. */
type Rename = (name: string) => string | null;

function renamed(rename: Rename, names: string[]): string[] {
  return names.flatMap((name) => rename(name) ?? []);
}

/** Unique combinations without those that have a removed property; undefined if none is left. */
function combinations(rename: Rename, value: unknown): string[][] | undefined {
  const groups = Array.isArray(value) ? value.map(strings) : [];
  const kept = groups.filter((names) => names.every((name) => rename(name) !== null));
  return kept.length === 0 ? undefined : kept.map((names) => renamed(rename, names));
}

function mapReferences(definition: Json, rename: Rename): Json {
  const slugs = records(definition.slugs).flatMap((rule) => {
    const [source, target] = [rename(string(rule.source) ?? ''), rename(string(rule.target) ?? '')];
    return source === null || target === null ? [] : [{ ...rule, source, target }];
  });
  const stored = record(definition.metaDefinition);
  const meta =
    'uniqueTogether' in stored
      ? withMember(stored, 'uniqueTogether', combinations(rename, stored.uniqueTogether))
      : stored;
  const result = { ...definition, ...('slugs' in definition && { slugs }), metaDefinition: meta };
  if (!('admin' in meta)) return result;
  let admin = record(meta.admin);
  if ('columns' in admin) admin = withMember(admin, 'columns', renamed(rename, strings(admin.columns)));
  const order = string(admin.order);
  if (order !== null) {
    const [, sign, name] = /^(-?)(.*)$/.exec(order) ?? [];
    const other = rename(name ?? '');
    admin = withMember(admin, 'order', other === null ? undefined : `${sign ?? ''}${other}`);
  }
  if ('tabs' in admin) {
    const tabs = records(admin.tabs).map((tab) => ({
      ...tab,
      properties: renamed(rename, strings(tab.properties)),
    }));
    admin = withMember(admin, 'tabs', tabs);
  }
  return { ...result, metaDefinition: { ...meta, admin } };
}

function withoutReferences(definition: Json, gone: string): Json {
  return mapReferences(definition, (name) => (name === gone ? null : name));
}

/** Renames a property of the type; slug rules, columns, tabs and conditions follow. */
export function renameProperty(draft: TypeDraft, key: string, name: string): TypeDraft {
  const property = draft.properties.find((candidate) => candidate.key === key);
  if (!property || (property.name === name && property.typed?.name === undefined)) return draft;
  const rename: Rename = (other) => (other === property.name ? name : other);
  return {
    ...draft,
    definition: mapReferences(draft.definition, rename),
    properties: renameInLevel(draft.properties, key, name),
  };
}

/** Renames a property of one level; conditions of the level follow. */
export function renameInLevel(level: PropertyDraft[], key: string, name: string): PropertyDraft[] {
  const old = level.find((property) => property.key === key)?.name;
  if (old === undefined) return level;
  return level.map((property) => {
    const changed = property.key === key ? withTypedText({ ...property, name }, 'name', undefined) : property;
    const condition = conditionOf(changed.config);
    if (condition.property !== old) return changed;
    return { ...changed, config: withHint(changed.config, 'showIf', { ...condition, property: name }) };
  });
}

/** Removes a new property of one level, with the conditions on it: they would hide others for ever. */
export function removeNewProperty(level: PropertyDraft[], key: string): PropertyDraft[] {
  const gone = level.find((property) => property.key === key)?.name;
  const rest = level.filter((property) => property.key !== key);
  if (gone === undefined || rest.some(({ name }) => name === gone)) return rest;
  return rest.map((property) =>
    conditionOf(property.config).property === gone
      ? { ...property, config: withHint(property.config, 'showIf', undefined) }
      : property,
  );
}

// Names

const NAME_PATTERN = /^[A-Za-z0-9_]+$/;
const RESERVED_NAMES = [
  'id',
  'objectType',
  'internal',
  '_id',
  '_index',
  '_type',
  '_source',
  '_score',
  '_routing',
  '_version',
  '_shards',
];

export type NameError = 'missing' | 'letters' | 'reserved' | 'taken';

/** Why a property of the level cannot have this name; null when it can. */
export function nameError(
  name: string,
  key: string,
  level: PropertyDraft[],
  isTop: boolean,
): NameError | null {
  if (name === '') return 'missing';
  if (!NAME_PATTERN.test(name)) return 'letters';
  if (isTop && RESERVED_NAMES.includes(name)) return 'reserved';
  const taken = level.some((other) => other.key !== key && !other.removed && other.name === name);
  return taken ? 'taken' : null;
}

/** A name that no property of the level has: `text`, `text2`. */
export function freeName(wanted: string, level: PropertyDraft[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}${String(number)}`;
    if (!level.some((property) => property.name === name || property.stored?.name === name)) return name;
  }
}

/** Returns whether the definition on the server differs from the one with which editing began, and from the edited one. */
export function isOutdated(draft: TypeDraft, stored: Json): boolean {
  const current = payloadOf(stored);
  return draft.base !== null && !isEqual(draft.base, current) && !isEqual(writeDraft(draft), current);
}
