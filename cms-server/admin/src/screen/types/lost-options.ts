// Options that an edit takes away, and the values that objects with them get. Knows requests, no component.
import { string } from '../../type/definition';
import { choiceOf, hasOptions, optionValues, type PropertyDraft } from '../../type/property-draft';
import type { TypeDraft } from '../../type/type-draft';
import { BulkRun } from '../list/bulk/bulk-run.svelte';
import { countObjects } from './requests';

export interface LostOption {
  /** Name of the property after the change. */
  property: string;
  /** Its name in the stored objects. */
  storedName: string;
  label: string;
  value: string;
  /** Objects have lists of values: one of them cannot be changed for all objects at once. */
  isList: boolean;
}

/** Values that objects get in place of an option, by property and option. */
export type OptionChanges = Record<string, string>;

export const optionKey = ({ property, value }: Pick<LostOption, 'property' | 'value'>): string =>
  JSON.stringify([property, value]);

/** Options of a property that its edit takes away. */
export function lostOptions(property: PropertyDraft): LostOption[] {
  const { stored, removed, name, config } = property;
  if (removed || stored === null || !hasOptions(choiceOf(property)) || !hasOptions(choiceOf(stored)))
    return [];
  const kept = new Set(optionValues(config));
  return optionValues(stored.config)
    .filter((value) => !kept.has(value))
    .map((value) => ({
      property: name,
      storedName: stored.name,
      label: string(config.label) || name,
      value,
      isList: choiceOf(property) === 'selectMany' || choiceOf(stored) === 'selectMany',
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

/** What the user has chosen for the options that are lost; an option that came back, or a choice that is none any more, counts not. */
export function chosenChanges(
  type: string,
  { properties }: TypeDraft,
  chosen: OptionChanges,
): OptionChange[] {
  return properties.flatMap((property) =>
    lostOptions(property).flatMap((option) => {
      const to = chosen[optionKey(option)];
      const isPossible = to !== undefined && !option.isList && optionValues(property.config).includes(to);
      return isPossible ? [{ type, option, to }] : [];
    }),
  );
}

/** Gives all objects with an option another one: a job of the server, which goes on without this page. */
export async function startChange({ type, option, to }: OptionChange): Promise<BulkRun | null> {
  const filters = optionFilter(option.property, option);
  const count = await countObjects(type, { filters });
  if (count === 0) return null;
  return new BulkRun(
    type,
    { kind: 'patch', patch: { [option.property]: to } },
    { kind: 'match', words: '', filters },
    count,
  );
}
