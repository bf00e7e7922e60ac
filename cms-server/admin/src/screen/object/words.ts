// Names of people and properties, as the object screen writes them.
import type { Others } from '../../object/later';
import { t } from '../../text';
import type { Form } from '../../type/form';

/** Who made changes: "Ben", "Ben and Cleo", "Somebody else". */
export function whoOf(others: Pick<Others, 'by'>): string {
  return others.by.length === 0 ? t.writing.someone : t.writing.names(others.by);
}

/** What a later state changed, which the form shows already. */
export function updatedMessage(form: Form | undefined, others: Others): string {
  const names = labelsOf(form, others.names);
  return others.converted ? t.writing.converted(names) : t.writing.updated(whoOf(others), names);
}

/** Labels of properties, in the order of the form. */
export function labelsOf(form: Form | undefined, names: string[]): string[] {
  if (!form) return names;
  const known = form.fields.filter((field) => names.includes(field.name));
  const others = names.filter((name) => !known.some((field) => field.name === name));
  return [...known.map((field) => field.label), ...others];
}

/** "Saved as version 7", and what others changed meanwhile. */
export function savedMessage(form: Form | undefined, version: number, others: Others | null): string {
  if (!others || others.names.length === 0) return t.object.saved(version);
  return t.writing.savedBoth(version, whoOf(others), labelsOf(form, others.names));
}
/** Properties of a file that people edit; its bytes decide the others. */
export const FILE_PROPERTIES = ['fileName', 'alt', 'title', 'tags', 'focalPoint', 'variants'];
