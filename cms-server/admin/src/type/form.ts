// Form: a content type as an ordered list of fields. Only this folder interprets schemaDefinition and
// propertiesConfig; the JSON editor checks their structure, and the plan screen parses paths into them. Knows no screen
// and no values.
import { record, string, strings, type ContentType } from './definition';
import { isRecord } from '../value/record';

export const KINDS = [
  'text',
  'textarea',
  'textMarkdown',
  'markdown',
  'richtext',
  'email',
  'number',
  'radio',
  'checkbox',
  'select',
  'dateTime',
  'datasource',
  'object',
  'simpleList',
  'geo',
  'block',
  'custom',
] as const;
/** `inputType` of a property. */
export type Kind = (typeof KINDS)[number];

export interface Option {
  value: string;
  label: string;
}

/** One property of an object, as the form shows it. */
export interface Field {
  name: string;
  /** The name of the property before it was renamed. */
  oldName: string | null;
  label: string;
  help: string;
  kind: Kind;
  /** JSON type of the value: string, number, integer, boolean, array, object. */
  type: string;
  required: boolean;
  readonly: boolean;
  hidden: boolean;
  unique: boolean;
  title: boolean;
  /** Values of radio and select. */
  options: Option[];
  multiple: boolean;
  /** A list whose items hold one option each, shown as one choice. */
  itemChoice: boolean;
  /** Types that a relation may link to; empty allows every type. */
  targets: string[];
  /** Relation: several links are allowed. */
  many: boolean;
  /** dateTime: has a time of day. */
  time: boolean;
  password: boolean;
  subtype: string | null;
  /** Block types that may be inserted; empty allows all. */
  blockTypes: string[];
  min: number | null;
  max: number | null;
  minLength: number | null;
  maxLength: number | null;
  minItems: number | null;
  maxItems: number | null;
  pattern: string | null;
  /** Value in new objects. */
  default: unknown;
  /** Properties of the items of a list, or of a custom object that declares them. */
  fields: Field[];
  hints: FieldHints;
}

/** Returns whether an empty list is stored as `[]`: the server refuses an object without this required property. */
export function storesEmptyList({ required, type, minItems }: Field): boolean {
  return required && type === 'array' && (minItems ?? 0) === 0;
}

/** The list to store; undefined if it is empty and the property may be absent. */
export function listToStore<T>(items: T[], field: Field): T[] | undefined {
  return items.length === 0 && !storesEmptyList(field) ? undefined : items;
}

/** `propertiesConfig.{p}.admin`: hints of the property for the page. */
export interface FieldHints {
  half: boolean;
  rows: number | null;
  placeholder: string;
  showIf: { property: string; equals: unknown } | null;
}

export interface FormTab {
  label: string;
  fields: Field[];
}

export interface Form {
  fields: Field[];
  /** Groups of fields; empty when the type has none. */
  tabs: FormTab[];
}

/** Reads the form of a type. */
export function formOf(type: ContentType): Form {
  const fields = fieldsOf(objectSchema(type.schema), type.meta);
  const tabs = type.admin.tabs.map((tab) => ({
    label: tab.label,
    fields: tab.properties.flatMap((name) => fields.filter((field) => field.name === name)),
  }));
  const inTabs = new Set(tabs.flatMap((tab) => tab.fields));
  const untabbed = fields.filter((field) => !inTabs.has(field));
  // Properties that no tab names stay reachable: they come first.
  if (tabs.length > 0 && untabbed.length > 0) tabs.unshift({ label: '', fields: untabbed });
  return { fields, tabs };
}

interface ObjectSchema {
  properties: Record<string, unknown>;
  required: Set<string>;
}

/** The properties of the type are in the last part of `allOf`; the required names may be beside `allOf`. */
function objectSchema(schema: Record<string, unknown>): ObjectSchema {
  const parts = Array.isArray(schema.allOf) ? [schema, ...schema.allOf.filter(isRecord)] : [schema];
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  for (const part of parts) {
    Object.assign(properties, record(part.properties));
    for (const name of strings(part.required)) required.add(name);
  }
  return { properties, required };
}

function fieldsOf(schema: ObjectSchema, meta: Record<string, unknown>): Field[] {
  const configs = record(meta.propertiesConfig);
  const order = strings(meta.order);
  const names = [...order, ...Object.keys(configs).filter((name) => !order.includes(name))];
  const fields = names.flatMap((name) => {
    const config = configs[name];
    const property = schema.properties[name];
    if (!isRecord(config) || !isRecord(property)) return [];
    return [fieldOf(name, property, config, schema.required.has(name))];
  });
  // A condition on a property that does not exist would hide the field for ever.
  const isKnown = (name: string) => fields.some((field) => field.name === name);
  for (const { hints } of fields) if (hints.showIf && !isKnown(hints.showIf.property)) hints.showIf = null;
  return fields;
}

/** One property as the form shows it. */
export function fieldOf(
  name: string,
  property: Record<string, unknown>,
  config: Record<string, unknown>,
  required: boolean,
): Field {
  const validation = record(config.validation);
  return {
    name,
    oldName: string(config.renamedFrom),
    label: string(config.label) ?? name,
    help: string(config.helpText) ?? '',
    kind: KINDS.find((kind) => kind === config.inputType) ?? 'custom',
    type: string(property.type) ?? 'object',
    required,
    readonly: config.readonly === true,
    hidden: config.hidden === true,
    unique: config.unique === true,
    title: config.isTitlePart === true,
    options: optionsOf(config),
    multiple: config.multiple === true,
    itemChoice: false,
    targets: targetsOf(validation.relationContenttype),
    many: validation.relationMultiple === true,
    time: config.showTime === true,
    password: config.isPassword === true,
    subtype: string(config.inputSubtype),
    blockTypes: strings(config.blockEditorTypes),
    min: number(property.minimum),
    max: number(property.maximum),
    minLength: number(property.minLength),
    maxLength: number(property.maxLength),
    minItems: number(property.minItems),
    maxItems: number(property.maxItems),
    pattern: string(property.pattern),
    default: property.default,
    fields: nestedFields(property, config),
    hints: hintsOf(record(config.admin)),
  };
}

function nestedFields(property: Record<string, unknown>, config: Record<string, unknown>): Field[] {
  if (isRecord(config.items)) return fieldsOf(objectSchema(record(property.items)), config.items);
  if (isRecord(config.propertiesConfig)) return fieldsOf(objectSchema(property), config);
  return [];
}

/** Earlier versions of the server accepted an option twice: it is offered once. */
function optionsOf(config: Record<string, unknown>): Option[] {
  const all = allOptions(config);
  return all.filter(({ value }, index) => all.findIndex((other) => other.value === value) === index);
}

function allOptions(config: Record<string, unknown>): Option[] {
  if (config.useOptionsWithLabels === true && Array.isArray(config.optionsWithLabels)) {
    return config.optionsWithLabels.filter(isRecord).map((option) => {
      const value = String(option.value);
      return { value, label: string(option.label) ?? value };
    });
  }
  return strings(config.options).map((value) => ({ value, label: value }));
}

function targetsOf(value: unknown): string[] {
  if (Array.isArray(value)) return strings(value);
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function hintsOf(admin: Record<string, unknown>): FieldHints {
  const showIf = record(admin.showIf);
  const property = string(showIf.property);
  return {
    half: admin.width === 'half',
    rows: number(admin.rows),
    placeholder: string(admin.placeholder) ?? '',
    showIf: property === null ? null : { property, equals: showIf.equals },
  };
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** The property that holds translations. The content type declares it `hidden`, so that other clients leave it out. */
export const TRANSLATIONS = '__translations';

/** Returns whether the control of a field is shown, given the values of the other properties. */
export function isShown(field: Field, values: Record<string, unknown>): boolean {
  if (field.hidden && field.name !== TRANSLATIONS) return false;
  const condition = field.hints.showIf;
  return condition === null || values[condition.property] === condition.equals;
}
