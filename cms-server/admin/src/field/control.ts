// What every control of a field gets. A control shows a value and reports changes. It sends requests only to
// find and show linked objects, and to save texts of a media object.
import type { FieldErrors } from '../api/problem';
import type { Field } from '../type/form';

export interface ControlProps<V = unknown> {
  field: Field;
  /** The value in the form, in the format in which it is stored; undefined when the property is absent. */
  value: V | undefined;
  /** Path in the object: `title`, `list[0].name`. */
  path: string;
  /** All validation errors of the object; a control reads those of its path and below. */
  errors: FieldErrors;
  readonly: boolean;
  /** Id of the control, for its label. */
  id: string;
  describedBy: string | undefined;
  invalid: boolean;
  /** Reports a new value; undefined removes the property. */
  onchange: (value: unknown) => void;
}

/** A value of the wrong type, as text that can be shown. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
