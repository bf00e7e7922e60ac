// Names of people and properties, as the object screen writes them.
import type { Others } from '../../object/later';
import { t } from '../../text';
import type { Form } from '../../type/form';

/** Who made changes: "Ben", "Ben and Cleo", "Somebody else". */
export function whoOf(others: Pick<Others, 'by'>): string {
  return others.by.length === 0 ? t.writing.someone : t.writing.names(others.by);
}

/** Labels of properties, in the order of the form. */
export function labelsOf(form: Form, names: string[]): string[] {
  const known = form.fields.filter((field) => names.includes(field.name));
  const others = names.filter((name) => !known.some((field) => field.name === name));
  return [...known.map((field) => field.label), ...others];
}

/** Properties of a file that people edit; its bytes decide the others. */
export const FILE_PROPERTIES = ['fileName', 'alt', 'title', 'tags', 'focalPoint', 'variants'];
