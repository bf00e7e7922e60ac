// One property of a definition that is being edited: its schema and its config as the API has them, changed
// only where the user changes them. Imports no screen.
import { uuid } from '../value/uuid';
import { record, records, string, strings } from './definition';
import { pick, withMember } from '../value/record';
import { expandProperty, labelOf } from './short-form';

export type Json = Record<string, unknown>;

/** The kinds of properties that a user can choose. */
export const PROPERTY_KINDS = [
  'text',
  'textarea',
  'richtext',
  'textMarkdown',
  'block',
  'number',
  'integer',
  'checkbox',
  'dateTime',
  'email',
  'select',
  'selectMany',
  'radio',
  'media',
  'datasource',
  'object',
  'simpleList',
  'geo',
  'custom',
] as const;
export type PropertyKind = (typeof PROPERTY_KINDS)[number];

/** A property as it is stored. */
export interface StoredProperty {
  name: string;
  schema: Json;
  config: Json;
  required: boolean;
}

export interface PropertyDraft {
  /** Identifies the property while it is edited. */
  key: string;
  name: string;
  /** Null: the property is new. Another name than `name`: the property was renamed, and keeps its values. */
  stored: StoredProperty | null;
  removed: boolean;
  required: boolean;
  schema: Json;
  config: Json;
  /** Properties of the items of a list, or of a custom object that declares them. */
  items: PropertyDraft[] | null;
  /** Texts that the user has typed and that are not valid, by setting. They are kept until they are corrected. */
  typed?: Record<string, string>;
}

/** The property with a typed text that is not valid as this setting; `undefined` removes the text. */
export function withTypedText(
  property: PropertyDraft,
  setting: string,
  text: string | undefined,
): PropertyDraft {
  const { typed = {}, ...rest } = property;
  const kept = Object.entries({ ...typed, [setting]: text }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return kept.length === 0 ? rest : { ...rest, typed: Object.fromEntries(kept) };
}

/** The option values of a radio group or select. */
export function optionValues(config: Json): string[] {
  return config.useOptionsWithLabels === true
    ? records(config.optionsWithLabels).map((option) => String(option.value))
    : strings(config.options);
}

export const MEDIA_TYPE = '_media';

export function propertyKindOf({ schema, config }: Pick<PropertyDraft, 'schema' | 'config'>): PropertyKind {
  const type = string(config.inputType) ?? 'custom';
  if (type === 'markdown') return 'textMarkdown';
  if (type === 'number' && schema.type === 'integer') return 'integer';
  if (type === 'select' && (config.multiple === true || schema.type === 'array')) return 'selectMany';
  if (type === 'datasource' && record(config.validation).relationContenttype === MEDIA_TYPE) return 'media';
  return PROPERTY_KINDS.find((choice) => choice === type) ?? 'custom';
}

/** The schema and the config of a new property of this kind. */
function shapeOf(choice: PropertyKind, name: string, required: boolean): { schema: Json; config: Json } {
  if (choice === 'custom')
    return { schema: { type: 'object' }, config: { label: labelOf(name), inputType: 'custom' } };
  const short: Json = { type: choice, required };
  if (choice === 'media') Object.assign(short, { type: 'datasource', to: MEDIA_TYPE });
  if (choice === 'selectMany') Object.assign(short, { type: 'select', multiple: true });
  return expandProperty(name, short);
}

function itemsFor(choice: PropertyKind): PropertyDraft[] | null {
  return choice === 'object' ? [newProperty('text', 'title')] : null;
}

export function newProperty(choice: PropertyKind, name: string): PropertyDraft {
  return {
    key: uuid(),
    name,
    stored: null,
    removed: false,
    required: false,
    ...shapeOf(choice, name, false),
    items: itemsFor(choice),
  };
}

/** Properties of propertiesConfig that mean the same in every kind. */
export const COMMON_CONFIG = ['label', 'helpText', 'isTitlePart', 'readonly', 'hidden', 'renamedFrom'];
const OPTION_CONFIG = ['options', 'useOptionsWithLabels', 'optionsWithLabels'];
const WITH_OPTIONS: PropertyKind[] = ['radio', 'select', 'selectMany'];
const NEVER_UNIQUE: PropertyKind[] = ['radio', 'checkbox', 'block'];

export const hasOptions = (choice: PropertyKind): boolean => WITH_OPTIONS.includes(choice);
export const mayBeUnique = (choice: PropertyKind): boolean => !NEVER_UNIQUE.includes(choice);

/** The property with another kind of value. The stored kind comes back with all of its settings. */
export function withKind(property: PropertyDraft, choice: PropertyKind): PropertyDraft {
  const { stored, name, required, config } = property;
  const kept = pick(config, COMMON_CONFIG);
  if (stored && propertyKindOf(stored) === choice) {
    const restored = { ...property, schema: stored.schema, config: { ...stored.config, ...kept } };
    const items = readItems(stored.schema, stored.config);
    return withRequired(onlyTypedName({ ...restored, items }), required);
  }
  const shape = shapeOf(choice, name, required);
  if (hasOptions(choice)) Object.assign(kept, pick(config, OPTION_CONFIG));
  if (config.unique === true && mayBeUnique(choice)) kept.unique = true;
  if (config.admin !== undefined) kept.admin = config.admin;
  const items = itemsFor(choice);
  return onlyTypedName({
    ...property,
    schema: shape.schema,
    config: { ...shape.config, ...kept },
    items,
  });
}

/** The property without its typed texts, except that of the name: another kind has other settings. */
function onlyTypedName(property: PropertyDraft): PropertyDraft {
  return withTypedText({ ...property, typed: {} }, 'name', property.typed?.name);
}

/** Text and lists that are required must not be empty. */
export function withRequired(property: PropertyDraft, required: boolean): PropertyDraft {
  const schema = { ...property.schema };
  if (schema.type === 'string') {
    if (required) schema.minLength = Math.max(1, limit(schema.minLength));
    else if (schema.minLength === 1) delete schema.minLength;
  } else if (schema.type === 'array') {
    if (required) schema.minItems = Math.max(1, limit(schema.minItems));
    else if (schema.minItems === 1) schema.minItems = 0;
  } else if (property.config.inputType === 'geo') {
    if (required) schema.required = ['lat', 'lon'];
    else delete schema.required;
  }
  return { ...property, required, schema };
}

const limit = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Sets a hint for the page; undefined removes it. `admin` is removed with its last hint. */
export function withHint(config: Json, key: string, value: unknown): Json {
  const admin = withMember(record(config.admin), key, value);
  return withMember(config, 'admin', Object.keys(admin).length > 0 ? admin : undefined);
}

/** The condition under which forms show a property; empty without one. */
export function conditionOf(config: Json): Json {
  return record(record(config.admin).showIf);
}

// Levels: the properties of a type, of the items of a list, of a custom object.

export function readLevel(holder: Json, meta: Json): PropertyDraft[] {
  const schemas = record(holder.properties);
  const configs = record(meta.propertiesConfig);
  const required = strings(holder.required);
  return strings(meta.order).flatMap((name) => {
    if (!(name in schemas) || !(name in configs)) return [];
    const stored: StoredProperty = {
      name,
      schema: record(schemas[name]),
      config: record(configs[name]),
      required: required.includes(name),
    };
    return [draftOf(stored)];
  });
}

export function draftOf(stored: StoredProperty): PropertyDraft {
  const { name, schema, config, required } = stored;
  const items = readItems(schema, config);
  return { key: uuid(), name, stored, removed: false, required, schema, config, items };
}

function readItems(schema: Json, config: Json): PropertyDraft[] | null {
  if (config.inputType === 'object') return readLevel(record(schema.items), record(config.items));
  if (config.inputType === 'custom' && 'propertiesConfig' in config) return readLevel(schema, config);
  return null;
}

/** Writes a level into what is stored; members that no property names stay as they are. */
export function writeLevel(
  holder: Json,
  meta: Json,
  properties: PropertyDraft[],
): { holder: Json; meta: Json } {
  const kept = properties.filter((property) => !property.removed);
  const names = new Set(kept.map(({ name }) => name));
  const isGone = (other: unknown) =>
    properties.some(({ removed, name }) => removed && name === other && !names.has(name));
  const written = new Map(
    kept.map((property) => {
      // A condition on a removed property would hide this one for ever.
      const { config } = property;
      const shown = isGone(conditionOf(config).property) ? withHint(config, 'showIf', undefined) : config;
      return [property, writeProperty({ ...property, config: shown })];
    }),
  );
  const known = new Map(
    properties.flatMap((property) => (property.stored ? [[property.stored.name, property]] : [])),
  );
  const merged = (before: Json, part: 'schema' | 'config'): Json => {
    const result: Json = {};
    for (const [name, value] of Object.entries(before)) {
      const property = known.get(name);
      if (!property) result[name] = value;
      else if (!property.removed) result[property.name] = written.get(property)?.[part];
    }
    for (const property of kept)
      if (!(property.name in result)) result[property.name] = written.get(property)?.[part];
    return result;
  };
  const before = strings(holder.required);
  const required = before.flatMap((name) => {
    const property = known.get(name);
    if (!property) return [name];
    return property.required && !property.removed ? [property.name] : [];
  });
  for (const property of kept)
    if (property.required && !required.includes(property.name)) required.push(property.name);
  return {
    holder: {
      ...holder,
      ...(('required' in holder || required.length > 0) && { required }),
      properties: merged(record(holder.properties), 'schema'),
    },
    meta: {
      ...meta,
      order: kept.map(({ name }) => name),
      propertiesConfig: merged(record(meta.propertiesConfig), 'config'),
    },
  };
}

function writeProperty(property: PropertyDraft): { schema: Json; config: Json } {
  const { stored, name, items } = property;
  let { schema, config } = property;
  if (stored && stored.name !== name) config = { ...config, renamedFrom: stored.name };
  if (items === null) return { schema, config };
  if (config.inputType === 'object') {
    const { holder, meta } = writeLevel(record(schema.items), record(config.items), items);
    schema = { ...schema, items: holder };
    config = { ...config, items: meta };
  } else {
    const { holder, meta } = writeLevel(schema, config, items);
    schema = holder;
    config = meta;
  }
  return { schema, config };
}
