// Values of an earlier state of an object under the names that its properties have now. Pure function.
import type { Field } from '../type/form';
import { exactText, memberText, recordMemberText, recordSourceText } from '../value/exact-json';
import { isRecord } from '../value/record';
import type { Values } from './form-state.svelte';
import type { FoundWork } from './open-object';

/**
 * `values` with each property that was renamed since under its new name, unless they have a value for that already. The
 * same object if no property was renamed.
 */
export function withNewNames(fields: Field[], values: Values): Values {
  const oldNames = new Map(
    fields.flatMap(({ name, oldName }): [string, string][] =>
      oldName !== null && isRenamed(fields, values, name, oldName) ? [[oldName, name]] : [],
    ),
  );
  const members = Object.keys(values).map((name) => {
    const newName = oldNames.get(name) ?? name;
    const field = fields.find((candidate) => candidate.name === newName);
    const value = field ? memberWithNewNames(field, values, name) : values[name];
    const text = value === values[name] ? memberText(values, name) : undefined;
    return { name, newName, value, text: text ?? textOf(value) };
  });
  if (members.every(({ name, newName, value }) => name === newName && value === values[name])) return values;
  const renamed = Object.fromEntries(members.map(({ newName, value }) => [newName, value]));
  const texts = members.map(({ newName, text }) => `${JSON.stringify(newName)}:${text}`);
  recordSourceText(renamed, `{${texts.join(',')}}`);
  return renamed;
}

/** A member of `values` with the new names of the properties inside it. */
function memberWithNewNames({ fields }: Field, values: Values, name: string): unknown {
  const value = values[name];
  if (fields.length === 0) return value;
  recordMemberText(values, name, value);
  if (isRecord(value)) return withNewNames(fields, value);
  if (!Array.isArray(value)) return value;
  const items = value.map((item: unknown) => (isRecord(item) ? withNewNames(fields, item) : item));
  return items.some((item, index) => item !== value[index]) ? items : value;
}

/** The JSON text of a value that was put together of values with known texts. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  return isRecord(value) ? exactText(value, [value]) : (JSON.stringify(value) ?? 'null');
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
