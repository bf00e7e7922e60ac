// Reads a plan of the server: losses to confirm, values to give, errors by property.
// Knows no component.
import { CHOICES, choiceOf, type Choice } from '../../type/property-draft';
import type { Plan } from './requests';

export type PlanType = Plan['contentTypes'][number];
export type PlanRow = PlanType['properties'][number];

/** The kind in a pair of the plan: `string/text`. */
export function kindOfPair(pair: string | null): Choice | null {
  if (pair === null) return null;
  const [type = '', inputType = ''] = pair.split('/');
  return CHOICES.find((choice) => choice === choiceOf({ schema: { type }, config: { inputType } })) ?? null;
}

export const lossName = (type: string, row: PlanRow): string => `${type}.${row.name}`;

export interface Loss {
  name: string;
  count: number;
}

/** Losses that the user has to confirm; a confirmed number covers no larger one. */
export function unconfirmed(plan: Plan, allowed: Record<string, number>): Loss[] {
  return lossesOf(plan).filter(({ name, count }) => (allowed[name] ?? 0) < count);
}

export function lossesOf(plan: Plan): Loss[] {
  return plan.contentTypes.flatMap(({ name, properties }) =>
    properties.flatMap((row) => (row.emptied > 0 ? [{ name: lossName(name, row), count: row.emptied }] : [])),
  );
}

const FROM_TEXT = /^string\//;
const TO_PARSED_TYPE = /^(number|integer|boolean)\//;

/** Text that becomes a number or a yes/no can be read by its content. */
export function mayParse(row: Pick<PlanRow, 'from' | 'to'>): boolean {
  return FROM_TEXT.test(row.from ?? '') && TO_PARSED_TYPE.test(row.to ?? '');
}

const PROPERTY_PATHS = [
  /^schemaDefinition\.allOf[.[]1\]?\.properties\.(.+)$/,
  /^metaDefinition\.propertiesConfig\.(.+)$/,
  /^co\.(.+)$/,
];
/** Parts of a definition, in paths that begin with them. */
const SETTING_PATHS =
  /^(schemaDefinition|metaDefinition|slugs|name|label|workflowId|draftPublic|featuredImage|ctd)\b/;

/** The names of the properties that an error of the plan is about, the outer one first; null: a setting. */
export function propertyNamesOf(path: string, names: ReadonlySet<string>): string[] | null {
  const inner = PROPERTY_PATHS.map((place) => place.exec(path)?.[1]).find((found) => found !== undefined);
  if (inner === undefined && SETTING_PATHS.test(path) && !names.has(path)) return null;
  const parts = (inner ?? path)
    .replaceAll(/\[\d+\]/g, '')
    .split('.')
    .filter((part) => part !== 'items' && part !== 'properties' && part !== 'propertiesConfig');
  const [first] = parts;
  return first !== undefined && names.has(first) ? parts : null;
}

/** The sentence of the server for objects that do not fit; each property says it by itself. */
export const CONFORMITY_PATH = 'ctd';

/** Errors of a type that no property shows. */
export function generalBlockers(type: PlanType, names: ReadonlySet<string>): [string, string[]][] {
  const entries = Object.entries(type.blockers);
  const rest = entries.filter(([path]) => path !== CONFORMITY_PATH && propertyNamesOf(path, names) === null);
  const onlyConform = entries.every(([path]) => path === CONFORMITY_PATH);
  return onlyConform ? entries : rest;
}

/** Errors at a property, by the path of names below it: `how` in `brewing[0].how`. */
export function blockersAt(
  type: PlanType,
  property: string,
  names: ReadonlySet<string>,
): [string[], string[]][] {
  return Object.entries(type.blockers).flatMap(([path, messages]): [string[], string[]][] => {
    const place = propertyNamesOf(path, names);
    return place?.[0] === property ? [[place, messages]] : [];
  });
}

/** A stored value in one line. */
export function shortValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
