// A query to begin with: the properties of a type that have short values, and its links. Plain values.
import type { Field } from '../../type/form';

const MAX_FIELDS = 12;
const SHORT_KINDS = [
  'text',
  'textarea',
  'email',
  'number',
  'radio',
  'checkbox',
  'select',
  'dateTime',
  'simpleList',
];
const INDENT = '        ';

function selectionOf(field: Field): string | null {
  if (SHORT_KINDS.includes(field.kind)) return field.name;
  // With no or several target types, the type of the linked object is not known.
  return field.kind === 'datasource' && field.targets.length === 1 ? `${field.name} { id }` : null;
}

/** A query for the first objects of a type, or for one object. */
export function queryFor(type: string, fields: readonly Field[], id: string | null): string {
  const names = fields.map(selectionOf).filter((selection) => selection !== null);
  const lines = ['id', ...names.slice(0, MAX_FIELDS)].map((line) => INDENT + line).join('\n');
  const which = id === null ? 'first: 10' : `id: ${JSON.stringify(id)}`;
  const count = id === null ? '    totalCount\n' : '';
  return `{\n  ${type}(${which}) {\n${count}    edges {\n      node {\n${lines}\n      }\n    }\n  }\n}`;
}
