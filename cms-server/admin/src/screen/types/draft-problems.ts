// Problems of an edited type that the user must correct before it can be planned. Knows the types of the session.
import { t } from '../../text';
import { record, records, string } from '../../type/definition';
import { propertyKindOf, hasOptions, optionValues, type PropertyDraft } from '../../type/property-draft';
import { nameError, type TypeDraft } from '../../type/type-draft';
import { isNewKey, type EditedTypeKey } from './edited-types.svelte';
import { typeNameError } from './name-checks';

/** A message at a setting of a property, or at a setting of the type. */
export interface SettingMessage {
  /** Names of the properties that contain it, the outermost first, and its own; empty: a setting of the type. */
  property: string[];
  setting: string;
  message: string;
  /** The setting is only missing so far, which is no error. */
  isMissing?: boolean;
}

/** All problems of an edited type. */
export function draftProblems(key: EditedTypeKey, draft: TypeDraft): SettingMessage[] {
  if (draft.json !== undefined) return [wrong([], 'json', t.types.jsonInvalid)];
  return [
    ...typeProblems(key, draft),
    ...levelProblems(draft.properties, []),
    ...tabProblems(record(record(draft.definition.metaDefinition).admin).tabs),
  ];
}

const wrong = (property: string[], setting: string, message: string): SettingMessage => ({
  property,
  setting,
  message,
});

function typeProblems(key: EditedTypeKey, { definition, properties }: TypeDraft): SettingMessage[] {
  const missing = (setting: string, message: string) => ({
    ...wrong([], setting, message),
    isMissing: isNewKey(key),
  });
  const name = string(definition.name) ?? '';
  const nameProblem = isNewKey(key) ? typeNameError(name) : null;
  return [
    ...(definition.label === '' ? [missing('label', t.types.labelMissing)] : []),
    ...(name === '' ? [missing('name', t.types.typeNameMissing)] : []),
    ...(nameProblem === null ? [] : [wrong([], 'name', t.types.typeNameErrors[nameProblem])]),
    ...(properties.every(({ removed }) => removed) ? [missing('properties', t.types.noProperties)] : []),
  ];
}

function levelProblems(level: PropertyDraft[], above: string[]): SettingMessage[] {
  return level
    .filter(({ removed }) => !removed)
    .flatMap((property) => {
      const place = [...above, property.name];
      const own = propertyProblems(property, level, above.length === 0);
      return [
        ...own.map(([setting, message]) => wrong(place, setting, message)),
        ...levelProblems(property.items ?? [], place),
      ];
    });
}

/** Problems of one property: the setting and the message. */
function propertyProblems(
  property: PropertyDraft,
  level: PropertyDraft[],
  isTop: boolean,
): [string, string][] {
  const { typed = {}, name, key, config } = property;
  const problem = nameError(typed.name ?? name, key, level, isTop);
  const numbers = Object.keys(typed).filter((setting) => setting !== 'name');
  return [
    ...(config.label === '' ? [pair('label', t.types.propertyLabelMissing)] : []),
    ...(problem === null ? [] : [pair('name', t.types.nameErrors[problem])]),
    ...numbers.map((setting) =>
      pair(setting, COUNTS.includes(setting) ? t.types.notACount : t.types.notANumber),
    ),
    ...limitProblems(property),
  ];
}

const pair = (setting: string, message: string): [string, string] => [setting, message];

/** Settings whose value is a count. */
const COUNTS = ['minLength', 'maxLength', 'minItems', 'rows'];

function limitProblems(property: PropertyDraft): [string, string][] {
  const { schema, config } = property;
  const { minimum, maximum, minLength, maxLength, default: value } = schema;
  const isCrossed = typeof minimum === 'number' && typeof maximum === 'number' && minimum > maximum;
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  const values = hasOptions(propertyKindOf(property)) ? optionValues(config) : null;
  return [
    ...(isCrossed ? [pair('maximum', t.types.limitsCrossed)] : []),
    ...(typeof minLength === 'number' && typeof maxLength === 'number' && minLength > maxLength
      ? [pair('maxLength', t.typeEdits.lengthsCrossed)]
      : []),
    ...(values === null ? [] : optionProblems(values).map((message) => pair('options', message))),
    ...(isNumber && value !== undefined && !isNumberOf(schema.type, value)
      ? [pair('default', schema.type === 'integer' ? t.types.notWhole : t.types.notANumber)]
      : []),
    ...(values !== null && typeof value === 'string' && !values.includes(value)
      ? [pair('default', t.types.defaultNoOption)]
      : []),
  ];
}

const isNumberOf = (type: unknown, value: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeof value === 'number';

function optionProblems(values: string[]): string[] {
  if (values.length === 0) return [t.types.optionsMissing];
  return [
    ...(values.includes('') ? [t.types.optionEmpty] : []),
    ...(new Set(values).size < values.length ? [t.types.optionTwice] : []),
  ];
}

function tabProblems(tabs: unknown): SettingMessage[] {
  return records(tabs).some(({ label }) => (string(label) ?? '') === '')
    ? [wrong([], 'tabs', t.types.tabUnnamed)]
    : [];
}
