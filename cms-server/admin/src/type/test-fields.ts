// Fields for unit tests.
import type { Field } from './form';

/** A text field with `changes`. */
export function fieldNamed(name: string, changes: Partial<Field> = {}): Field {
  return {
    name,
    oldName: null,
    label: name,
    help: '',
    kind: 'text',
    type: 'string',
    required: false,
    readonly: false,
    hidden: false,
    unique: false,
    title: false,
    options: [],
    multiple: false,
    itemChoice: false,
    targets: [],
    many: false,
    time: false,
    password: false,
    subtype: null,
    blockTypes: [],
    min: null,
    max: null,
    minLength: null,
    maxLength: null,
    minItems: null,
    maxItems: null,
    pattern: null,
    default: undefined,
    fields: [],
    hints: { half: false, rows: null, placeholder: '', showIf: null },
    ...changes,
  };
}
