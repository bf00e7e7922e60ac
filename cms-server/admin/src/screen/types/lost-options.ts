// Options that an edit removes, and the options that objects get instead. Sends requests; imports no component.
import { string } from '../../type/definition';
import { fieldOf } from '../../type/form';
import { propertyKindOf, hasOptions, optionValues, type PropertyDraft } from '../../type/property-draft';
import type { TypeDraft } from '../../type/type-draft';
import { BulkRun } from '../list/bulk/bulk-run.svelte';
import { countObjects } from './requests';

export interface LostOption {
  /** Path of the property after the change: `sizes`, `rows[*].kind`. */
  property: string;
  /** Its path in the stored objects. */
  storedPath: string;
  /** Labels of the property and of the lists that it is in. */
  label: string;
  value: string;
  /** The value of the property is a list. */
  isList: boolean;
  /** The property is one of the items of a list, or of a custom object. */
  isNested: boolean;
  /** Options that objects can get instead. */
  choices: { value: string; label: string }[];
}

/** Options that objects get instead of removed ones, by `optionKey`. */
export type OptionChanges = Record<string, string>;

export const optionKey = ({ property, value }: Pick<LostOption, 'property' | 'value'>): string =>
  JSON.stringify([property, value]);

/** What comes before names of nested properties in paths and labels. */
interface Prefix {
  path: string;
  storedPath: string;
  label: string;
}

/** Options that the edit of a property removes, also from the properties of its items. */
export function lostOptions(property: PropertyDraft, prefix?: Prefix): LostOption[] {
  const { stored, removed, name, schema, config, items } = property;
  if (removed || stored === null) return [];
  const { path, storedPath, label } = prefix ?? { path: '', storedPath: '', label: '' };
  const own = {
    path: path + name,
    storedPath: storedPath + stored.name,
    label: label + (string(config.label) || name),
  };
  const step = propertyKindOf(property) === 'object' ? '[*].' : '.';
  const inside = {
    path: own.path + step,
    storedPath: own.storedPath + step,
    label: `${own.label} › `,
  };
  const nested = (items ?? []).flatMap((item) => lostOptions(item, inside));
  if (!hasOptions(propertyKindOf(property)) || !hasOptions(propertyKindOf(stored))) return nested;
  const kept = new Set(optionValues(config));
  const choices = fieldOf(name, schema, config, false).options.filter(({ value }) => kept.has(value));
  const lost = optionValues(stored.config).filter((value) => !kept.has(value));
  const isList = propertyKindOf(property) === 'selectMany' || propertyKindOf(stored) === 'selectMany';
  return lost.map((value) => ({
    property: own.path,
    storedPath: own.storedPath,
    label: own.label,
    value,
    isList,
    isNested: prefix !== undefined,
    choices,
  }));
}

/** A filter for the objects that have an option, in a list or as the only value. */
export function optionFilter(name: string, { value, isList }: LostOption): Record<string, unknown> {
  return { [name]: isList ? { type: 'includes', filter: [value] } : { type: 'equals', filter: value } };
}

export interface OptionChange {
  type: string;
  option: LostOption;
  /** The option that objects get. */
  to: string;
}

/**
 * What the user has chosen for the lost options. A choice is ignored if the lost option came back, or if the chosen
 * option does not exist any more.
 */
export function chosenChanges(
  type: string,
  { properties }: TypeDraft,
  chosen: OptionChanges,
): OptionChange[] {
  return properties.flatMap((property) =>
    lostOptions(property).flatMap((option) => {
      const to = chosen[optionKey(option)];
      const isPossible = to !== undefined && option.choices.some(({ value }) => value === to);
      return isPossible ? [{ type, option, to }] : [];
    }),
  );
}

/**
 * Prepares a job that replaces an option in all objects that have it; null if there are none. The job runs on the
 * server, even after this page is closed. In these objects it also makes the other changes (`all`), because an object
 * with two lost options cannot be saved while it still has one of them.
 */
export async function startChange(
  { type, option }: OptionChange,
  all: OptionChange[],
): Promise<BulkRun | null> {
  const filters = optionFilter(option.property, option);
  const count = await countObjects(type, { filters });
  if (count === 0) return null;
  return new BulkRun(
    type,
    {
      kind: 'patch',
      replace: all.map((each) => ({ path: each.option.property, from: each.option.value, to: each.to })),
    },
    { kind: 'match', words: '', filters, total: count },
    count,
  );
}
