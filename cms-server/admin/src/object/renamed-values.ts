// Values of an earlier state of an object under the names that its properties have now. Pure function.
import type { Field } from '../type/form';
import { memberText, recordSourceText } from '../value/exact-json';
import type { Values } from './form-state.svelte';
import type { FoundWork } from './open-object';

/** `values` with each property that was renamed since under its new name, unless they have a value for that already. */
export function withNewNames(fields: Field[], values: Values): Values {
  const oldNames = new Map(
    fields.flatMap(({ name, oldName }): [string, string][] =>
      oldName !== null && isRenamed(fields, values, name, oldName) ? [[oldName, name]] : [],
    ),
  );
  if (oldNames.size === 0) return values;
  const newName = (name: string) => oldNames.get(name) ?? name;
  const members = Object.entries(values);
  const renamed = Object.fromEntries(members.map(([name, value]) => [newName(name), value]));
  const texts = members.map(
    ([name, value]) =>
      `${JSON.stringify(newName(name))}:${memberText(values, name) ?? JSON.stringify(value)}`,
  );
  recordSourceText(renamed, `{${texts.join(',')}}`);
  return renamed;
}

/** Unsaved work under the new names. */
export function workWithNewNames(fields: Field[], work: FoundWork): FoundWork {
  const base = work.base && { ...work.base, values: withNewNames(fields, work.base.values) };
  return { ...work, values: withNewNames(fields, work.values), base };
}

function isRenamed(fields: Field[], values: Values, name: string, oldName: string): boolean {
  const isRemoved = !fields.some((field) => field.name === oldName);
  return isRemoved && Object.hasOwn(values, oldName) && !Object.hasOwn(values, name);
}
