// Reads a plan of the server: losses to confirm, values to give, errors by property.
// Imports no component.
import {
  PROPERTY_KINDS,
  propertyKindOf,
  type PropertyKind,
  type PropertyDraft,
} from '../../type/property-draft';
import type { SettingMessage } from './draft-problems';
import type { Plan } from './requests';

export type PlanType = Plan['contentTypes'][number];
export type PlanRow = PlanType['properties'][number];

/** The kind in a pair of the plan: `string/text`. */
export function kindOfPair(pair: string | null): PropertyKind | null {
  if (pair === null) return null;
  const [type = '', inputType = ''] = pair.split('/');
  return (
    PROPERTY_KINDS.find((choice) => choice === propertyKindOf({ schema: { type }, config: { inputType } })) ??
    null
  );
}

export const lossName = (type: string, row: PlanRow): string => `${type}.${row.name}`;

export interface Loss {
  name: string;
  count: number;
}

/** Losses that the user has to confirm: more values are lost than the user has confirmed. */
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

/** Returns whether the values can be parsed: text that becomes a number or a boolean. */
export function mayParse(row: Pick<PlanRow, 'from' | 'to'>): boolean {
  return FROM_TEXT.test(row.from ?? '') && TO_PARSED_TYPE.test(row.to ?? '');
}

const PROPERTY_PATHS = [
  /^schemaDefinition\.allOf[.[]1\]?\.properties\.(.+)$/,
  /^metaDefinition\.propertiesConfig\.(.+)$/,
  /^co\.(.+)$/,
];
/** Paths that begin with a part of the definition, so that they name a setting. */
const SETTING_PATHS =
  /^(schemaDefinition|metaDefinition|slugs|name|label|workflowId|draftPublic|featuredImage|ctd)\b/;
const BETWEEN_NAMES = ['items', 'properties', 'propertiesConfig'];

/** Path of the message that stored objects do not conform to the type; messages at properties replace it. */
const CONFORMITY_PATH = 'ctd';

export interface Blocker extends SettingMessage {
  /** The message is about stored objects, not about the definition. */
  ofObjects: boolean;
}

/** What a path of the plan is about: a property of the draft and the rest of the path. */
function placeOf(path: string, properties: PropertyDraft[]): Omit<SettingMessage, 'message'> {
  const first = /^[^.[]+/.exec(path)?.[0];
  const inner = PROPERTY_PATHS.map((place) => place.exec(path)?.[1]).find((found) => found !== undefined);
  const isSetting =
    inner === undefined && SETTING_PATHS.test(path) && !properties.some(({ name }) => name === first);
  const parts = (inner ?? path).replaceAll(/\[\d+\]/g, '').split('.');
  const property: string[] = [];
  let level = isSetting ? [] : properties;
  for (;;) {
    const skipped = property.length > 0 ? parts.findIndex((part) => !BETWEEN_NAMES.includes(part)) : 0;
    const found = level.find(({ removed, name }) => !removed && name === parts[skipped]);
    if (!found) break;
    property.push(found.name);
    parts.splice(0, skipped + 1);
    level = found.items ?? [];
  }
  return { property, setting: property.length > 0 ? parts.join('.') : path };
}

/** Everything that keeps a type from being applied. */
export function blockersOf(type: PlanType, properties: PropertyDraft[]): Blocker[] {
  const entries = Object.entries(type.blockers);
  const own = entries.filter(([path]) => path !== CONFORMITY_PATH);
  return (own.length > 0 ? own : entries).flatMap(([path, messages]) =>
    messages.map((message) => {
      const place = placeOf(path, properties);
      return { ...place, message, ofObjects: place.property.length > 0 && !/Definition\./.test(path) };
    }),
  );
}

/** Blockers that no row of the plan shows. The row of a property shows how many objects fail, so they are left out. */
export function listedBlockers(type: PlanType, properties: PropertyDraft[]): Blocker[] {
  const shown = new Set(type.properties.filter(({ failed }) => failed > 0).map(({ name }) => name));
  return blockersOf(type, properties).filter(
    ({ ofObjects, property }) => !ofObjects || !shown.has(property[0] ?? ''),
  );
}

/** A stored value in one line. */
export function shortValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
