// Messages about changes by other users: names of authors and labels of properties.
import type { RemoteChanges } from '../../object/newer-version';
import { t } from '../../text';
import type { Form } from '../../type/form';

/** Topic of messages about the state of the form: each replaces the one before it. */
export const FORM_TOPIC = 'form';

/** Who made changes: "Ben", "Ben and Cleo", "Somebody else". */
export function authorNames(remoteChanges: Pick<RemoteChanges, 'by'>): string {
  return remoteChanges.by.length === 0 ? t.writing.unknownAuthor : t.writing.names(remoteChanges.by);
}

/** The message about a newer version that the form already shows. */
export function updatedMessage(form: Form | undefined, remoteChanges: RemoteChanges): string {
  const names = propertyLabels(form, remoteChanges.names);
  return remoteChanges.converted
    ? t.writing.converted(names)
    : t.writing.updated(authorNames(remoteChanges), names);
}

/** Labels of properties, in the order of the form. */
export function propertyLabels(form: Form | undefined, names: string[]): string[] {
  if (!form) return names;
  const known = form.fields.filter((field) => names.includes(field.name));
  const others = names.filter((name) => !known.some((field) => field.name === name));
  return [...known.map((field) => field.label), ...others];
}

/** "Saved as version 7", and what others changed meanwhile. */
export function savedMessage(
  form: Form | undefined,
  version: number,
  remoteChanges: RemoteChanges | null,
): string {
  if (!remoteChanges || remoteChanges.names.length === 0) return t.object.saved(version);
  return t.writing.savedBoth(version, authorNames(remoteChanges), propertyLabels(form, remoteChanges.names));
}
