// The short form of a content type, as in a project file: what `cms ctd export` writes. Knows definitions,
// no screen.
import { isEqual } from '../value/equal';
import { isRecord, pick } from '../value/record';
import { record, records, string, strings } from './definition';

type Json = Record<string, unknown>;

/** Flags of the short form, with their names in propertiesConfig. */
const SHARED_FLAGS = [
  ['titlePart', 'isTitlePart'],
  ['hidden', 'hidden'],
  ['readonly', 'readonly'],
] as const;
const SHARED_VALUES = ['helpText', 'renamedFrom', 'convert', 'backfill', 'admin'];

const PATTERNS: Record<string, string> = {
  email: String.raw`^$|^[a-zA-Z0-9_.+-]+@[a-zA-Z0-9_.+-]+?\.[a-zA-Z]{2,}$`,
  dateTime: String.raw`^$|^([12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))T?(([0-1]?[0-9]|2[0-3]):[0-5][0-9])?(:[0-5][0-9])?(\.[0-9]{3})?(Z|([\+-]\d{2}(:\d{2})?))?$`,
};
/** Types with `maxLength`. */
const TEXTS = ['text', 'textarea', 'markdown', 'textMarkdown', 'richtext', 'email'];
const TYPES = [
  ...TEXTS,
  'dateTime',
  'radio',
  'select',
  'number',
  'integer',
  'checkbox',
  'datasource',
  'object',
  'simpleList',
  'geo',
  'block',
];

const BLOCK_SCHEMA: Json = {
  type: 'object',
  properties: {
    time: { type: 'number' },
    blocks: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          type: { type: 'string' },
          data: {
            type: 'object',
            properties: { text: { type: 'string' } },
            additionalProperties: true,
          },
        },
      },
    },
    version: { type: 'string' },
  },
  additionalProperties: false,
};

/** The label of a name: "Header image" for `headerImage` and `header_image`. */
export function labelOf(name: string): string {
  const words = name
    .replace(/^_+/, '')
    .replaceAll('_', ' ')
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export interface Expanded {
  schema: Json;
  config: Json;
  required: boolean;
}

/** The schema and the config of a property in the short form. */
export function expandProperty(name: string, short: Json): Expanded {
  const type = string(short.type) ?? 'text';
  const required = short.required === true;
  const config: Json = {
    label: string(short.label) ?? labelOf(name),
    inputType: type === 'integer' ? 'number' : type,
    unique: short.unique === true,
  };
  for (const [key, long] of SHARED_FLAGS) if (short[key] === true) config[long] = true;
  for (const key of SHARED_VALUES) if (key in short) config[key] = short[key];
  const schema = schemaOf(type, short, required, config);
  if ('default' in short) schema.default = short.default;
  return { schema, config, required };
}

function schemaOf(type: string, short: Json, required: boolean, config: Json): Json {
  const list = (items: Json) => ({ type: 'array', items, minItems: short.minItems ?? (required ? 1 : 0) });
  switch (type) {
    case 'number':
    case 'integer':
      return { type, ...pick(short, ['minimum', 'maximum']) };
    case 'checkbox':
      return { type: 'boolean' };
    case 'datasource':
      config.validation = {
        relationMultiple: short.many === true,
        relationContenttype: string(short.to) ?? '',
      };
      return list({ $ref: '#/components/schemas/DataSource' });
    case 'simpleList':
      return list({ type: 'string' });
    case 'object': {
      const level = expandLevel(record(short.items));
      config.items = { order: level.order, propertiesConfig: level.configs };
      return list({ type: 'object', required: level.required, properties: level.schemas });
    }
    case 'geo':
      return {
        type: 'object',
        properties: { lat: { type: 'number' }, lon: { type: 'number' } },
        additionalProperties: false,
        ...(required && { required: ['lat', 'lon'] }),
      };
    case 'block':
      if (Array.isArray(short.blocks)) config.blockEditorTypes = short.blocks;
      return structuredClone(BLOCK_SCHEMA);
    case 'radio':
    case 'select':
      setOptions(config, short.options);
      if (type === 'radio') break;
      config.multiple = short.multiple === true;
      if (short.multiple === true) return list({ type: 'string' });
      break;
    case 'dateTime':
      if (short.showTime === true) config.showTime = true;
  }
  const schema: Json = { type: 'string' };
  const length = typeof short.minLength === 'number' ? short.minLength : required ? 1 : 0;
  if (length > 0) schema.minLength = length;
  if (TEXTS.includes(type) && typeof short.maxLength === 'number') schema.maxLength = short.maxLength;
  const pattern = string(short.pattern) ?? PATTERNS[type];
  if (pattern !== undefined) schema.pattern = pattern;
  return schema;
}

function setOptions(config: Json, options: unknown): void {
  const labelled = records(options);
  config.options = labelled.length > 0 ? [] : strings(options);
  if (labelled.length === 0) return;
  config.useOptionsWithLabels = true;
  config.optionsWithLabels = labelled;
}

interface Level {
  schemas: Json;
  configs: Json;
  required: string[];
  order: string[];
}

function expandLevel(properties: Json): Level {
  const level: Level = { schemas: {}, configs: {}, required: [], order: Object.keys(properties) };
  for (const [name, short] of Object.entries(properties)) {
    const { schema, config, required } = expandProperty(name, record(short));
    level.schemas[name] = schema;
    level.configs[name] = config;
    if (required) level.required.push(name);
  }
  return level;
}

function expandType(short: Json): Json {
  const level = expandLevel(record(short.properties));
  const single = short.single === true;
  const slugs = isRecord(short.slugs)
    ? Object.entries(short.slugs).map(([target, source]) => ({ source, target, active: true }))
    : (short.slugs ?? []);
  return {
    name: short.name,
    label: string(short.label) ?? labelOf(string(short.name) ?? ''),
    workflowId: short.workflow ?? 'generic',
    draftPublic: short.draftPublic === true,
    internal: short.internal === true,
    schemaDefinition: {
      type: 'object',
      allOf: [
        { $ref: '#/components/schemas/AbstractContentTypeSchemaDefinition' },
        { type: 'object', properties: level.schemas },
      ],
      required: level.required,
      additionalProperties: false,
    },
    metaDefinition: {
      order: level.order,
      propertiesConfig: level.configs,
      ...(short.applyDefaults === true && { applyDefaults: true }),
      ...pick(short, ['uniqueTogether']),
      ...((single || 'admin' in short) && { admin: { ...record(short.admin), ...(single && { single }) } }),
    },
    slugs,
  };
}

/** The definition of a new type. */
export function newDefinition(): Json {
  return { ...expandType({ name: '', label: '', properties: {} }), label: '' };
}

/** A type as in a project file: in the short form if that means the same, else as the API has it. */
export function projectForm(definition: Json): Json {
  const payload = Object.fromEntries(Object.entries(definition).filter(([key]) => key !== 'featuredImage'));
  const short = shortType(payload);
  return short !== null && isEqual(expandType(short), payload) ? short : payload;
}

function shortType(definition: Json): Json | null {
  const schema = record(definition.schemaDefinition);
  const meta = record(definition.metaDefinition);
  const parts = records(schema.allOf);
  const properties = shortLevel(record(record(parts[1]).properties), schema.required, meta);
  if (properties === null) return null;
  const name = string(definition.name) ?? '';
  const short: Json = { name };
  if (definition.label !== labelOf(name)) short.label = definition.label;
  const { single, ...hints } = record(meta.admin);
  if (single === true) short.single = true;
  if (definition.draftPublic === true) short.draftPublic = true;
  if (definition.internal === true) short.internal = true;
  if (definition.workflowId !== 'generic') short.workflow = definition.workflowId;
  const slugs = records(definition.slugs);
  if (slugs.length > 0)
    short.slugs = slugs.every((slug) => slug.active === true)
      ? Object.fromEntries(slugs.map((slug) => [slug.target, slug.source]))
      : slugs;
  Object.assign(short, pick(meta, ['applyDefaults', 'uniqueTogether']));
  if ('admin' in meta && (single !== true || Object.keys(hints).length > 0)) short.admin = hints;
  return { ...short, properties };
}

function shortLevel(schemas: Json, required: unknown, meta: Json): Json | null {
  const configs = record(meta.propertiesConfig);
  const result: Json = {};
  for (const name of strings(meta.order)) {
    const short = shortProperty(
      name,
      record(schemas[name]),
      record(configs[name]),
      strings(required).includes(name),
    );
    if (short === null) return null;
    result[name] = short;
  }
  return result;
}

function shortProperty(name: string, schema: Json, config: Json, required: boolean): Json | null {
  const type = schema.type === 'integer' ? 'integer' : (string(config.inputType) ?? '');
  if (!TYPES.includes(type)) return null;
  const short: Json = { type };
  if (config.label !== labelOf(name)) short.label = config.label;
  if (required) short.required = true;
  if (config.unique === true) short.unique = true;
  for (const [key, long] of SHARED_FLAGS) if (config[long] === true) short[key] = true;
  Object.assign(short, pick(config, SHARED_VALUES), pick(schema, ['default', 'minimum', 'maximum']));
  const min = required ? 1 : 0;
  if (schema.type === 'string' && (schema.minLength ?? 0) !== min) short.minLength = schema.minLength ?? 0;
  if (TEXTS.includes(type) && 'maxLength' in schema) short.maxLength = schema.maxLength;
  if (typeof schema.pattern === 'string' && schema.pattern !== PATTERNS[type]) short.pattern = schema.pattern;
  if (typeof schema.minItems === 'number' && schema.minItems !== min) short.minItems = schema.minItems;
  if (config.useOptionsWithLabels === true) short.options = config.optionsWithLabels;
  else if (strings(config.options).length > 0) short.options = config.options;
  for (const key of ['multiple', 'showTime']) if (config[key] === true) short[key] = true;
  const { relationContenttype, relationMultiple } = record(config.validation);
  if (typeof relationContenttype === 'string' && relationContenttype !== '') short.to = relationContenttype;
  if (relationMultiple === true) short.many = true;
  if ('blockEditorTypes' in config) short.blocks = config.blockEditorTypes;
  if (type !== 'object') return short;
  const item = record(schema.items);
  const items = shortLevel(record(item.properties), item.required, record(config.items));
  return items && { ...short, items };
}
