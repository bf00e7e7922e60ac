// What differs between two definitions of a type, as a list for people: properties that were added, removed or
// changed, with their settings. Imports no screen.
import { isEqual } from '../value/equal';
import { isRecord } from '../value/record';
import { record, records, string, strings } from './definition';
import { propertyKindOf, COMMON_CONFIG, type Json, type PropertyDraft } from './property-draft';
import { payloadOf, propertiesOf } from './type-draft';

export interface SettingChange {
  /** Such as `minLength`, `admin.width`; `required`, `kind` and `options` are settings of the type builder. */
  path: string;
  before: unknown;
  after: unknown;
}

export interface DefinitionChange {
  /** Names of the property and of those around it; empty: settings of the type. */
  property: string[];
  label: string;
  change: 'added' | 'removed' | 'changed';
  settings: SettingChange[];
}

export const ORDER_SETTING = 'propertyOrder';
const OPTION_KEYS = ['options', 'useOptionsWithLabels', 'optionsWithLabels'];
/** Parts of a definition that hold nested properties, which are listed on their own. */
const NESTED_KEYS = ['items', 'properties', 'propertiesConfig', 'order'];

export function definitionChanges(before: Json, after: Json): DefinitionChange[] {
  const [old, now] = [payloadOf(before), payloadOf(after)];
  const settings = typeSettings(old, now);
  const own: DefinitionChange = { property: [], label: '', change: 'changed', settings };
  const level = levelChanges(propertiesOf(old), propertiesOf(now), []);
  return settings.length > 0 ? [own, ...level] : level;
}

function typeSettings(before: Json, after: Json): SettingChange[] {
  const settings = (definition: Json): Json => {
    const { schemaDefinition: _schema, metaDefinition, ...rest } = definition;
    const { order: _order, propertiesConfig: _configs, admin, ...meta } = record(metaDefinition);
    return { ...rest, ...meta, ...record(admin) };
  };
  const names = (definition: Json) => strings(record(definition.metaDefinition).order);
  const [old, now] = [names(before), names(after)];
  // Added and removed properties are listed; this is about the others.
  const oldOrder = old.filter((name) => now.includes(name));
  const newOrder = now.filter((name) => old.includes(name));
  return [
    ...memberChanges(settings(before), settings(after), ''),
    ...(isEqual(oldOrder, newOrder) ? [] : [{ path: ORDER_SETTING, before: oldOrder, after: newOrder }]),
  ];
}

function levelChanges(before: PropertyDraft[], after: PropertyDraft[], above: string[]): DefinitionChange[] {
  const old = new Map(before.map((property) => [property.name, property]));
  const names = new Set(after.map(({ name }) => name));
  const nameAndLabel = (property: PropertyDraft) => ({
    property: [...above, property.name],
    label: string(property.config.label) || property.name,
  });
  const removed = before.filter(({ name }) => !names.has(name));
  return [
    ...removed.map((property) => ({ ...nameAndLabel(property), change: 'removed' as const, settings: [] })),
    ...after.flatMap((property): DefinitionChange[] => {
      const was = old.get(property.name);
      if (!was) return [{ ...nameAndLabel(property), change: 'added', settings: [] }];
      const settings = propertyChanges(was, property);
      return [
        ...(settings.length > 0 ? [{ ...nameAndLabel(property), change: 'changed' as const, settings }] : []),
        ...levelChanges(was.items ?? [], property.items ?? [], nameAndLabel(property).property),
      ];
    }),
  ];
}

function propertyChanges(before: PropertyDraft, after: PropertyDraft): SettingChange[] {
  const [oldKind, newKind] = [propertyKindOf(before), propertyKindOf(after)];
  const settings = (property: PropertyDraft): Json => ({
    required: property.required,
    // Another kind has other settings, which the user has not edited: only settings that all kinds have are compared.
    ...(oldKind === newKind ? settingsOf(property) : commonOf(property)),
  });
  return [
    ...(oldKind === newKind ? [] : [{ path: 'kind', before: oldKind, after: newKind }]),
    ...memberChanges(settings(before), settings(after), ''),
  ];
}

function commonOf({ config }: PropertyDraft): Json {
  return without(config, (key) => !COMMON_CONFIG.includes(key));
}

function settingsOf({ schema, config, items }: PropertyDraft): Json {
  const isNested = (key: string) => items !== null && (NESTED_KEYS.includes(key) || key === 'required');
  const options = optionTexts(config);
  return {
    ...without(schema, isNested),
    ...without(config, (key) => isNested(key) || OPTION_KEYS.includes(key)),
    ...(options.length > 0 && { options }),
  };
}

function without(members: Json, isLeftOut: (key: string) => boolean): Json {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !isLeftOut(key)));
}

function optionTexts(config: Json): string[] {
  if (config.useOptionsWithLabels !== true) return strings(config.options);
  return records(config.optionsWithLabels).map(({ value, label }) => {
    const text = String(value);
    return label === undefined || label === text ? text : `${text} (${String(label)})`;
  });
}

function memberChanges(before: Json, after: Json, above: string): SettingChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): SettingChange[] => {
    const [old, now] = [before[key], after[key]];
    if (isEqual(old, now)) return [];
    const path = above + key;
    if (isRecord(old) && isRecord(now)) return memberChanges(old, now, `${path}.`);
    // An empty object and an absent one also differ, although neither has members to list.
    return [{ path, before: old, after: now }];
  });
}

/** Settings that both changed, to different values: `mine` is what a rebase keeps. */
export function conflictsOf(mine: DefinitionChange[], theirs: DefinitionChange): string[] {
  const own = mine.find(({ property }) => isEqual(property, theirs.property));
  if (!own) return [];
  return theirs.settings.flatMap(({ path, after }) =>
    own.settings.some((setting) => setting.path === path && !isEqual(setting.after, after)) ? [path] : [],
  );
}
