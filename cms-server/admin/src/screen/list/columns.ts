// Columns of a list: what can be shown, what is shown at first, and which parts of an object they need.
// Plain values; knows no request.
import { hasWorkflow, type ContentType } from '../../type/definition';
import type { Field, Form } from '../../type/form';
import { t } from '../../text';

export interface Column {
  /** Name of a property, or a path of `internal`. */
  id: string;
  label: string;
  /** Property path to order by; null when objects cannot be ordered by it. */
  order: string | null;
  /** Paths for `fields[]`. */
  fields: string[];
  /** Shows parts of linked objects. */
  linked: boolean;
  field: Field | null;
  /** Numbers stand at the end of their column. */
  numeric: boolean;
}

/** Kinds whose values are too long, or have no short form. */
const KINDS_WITHOUT_COLUMN = new Set(['richtext', 'block', 'textMarkdown', 'markdown', 'custom', 'object']);
/** Kinds that are shown by default. */
const DEFAULT_COLUMN_KINDS = new Set(['datasource', 'radio', 'select', 'dateTime', 'number', 'checkbox']);

function columnOfField(field: Field): Column {
  const { name: id, label } = field;
  if (field.kind === 'datasource') {
    const parts = ['internal.objectTitle', 'internal.contentType', 'url', 'type'];
    const media = field.targets.includes('_media');
    const fields = (media ? parts : parts.slice(0, 2)).map((part) => `${id}.${part}`);
    return { id, label, order: null, fields, linked: true, field, numeric: false };
  }
  const order = field.kind === 'geo' || field.kind === 'simpleList' || field.multiple ? null : id;
  return { id, label, order, fields: [id], linked: false, field, numeric: field.kind === 'number' };
}

function commonColumn(id: keyof typeof t.list.internal, order: string | null = id): Column {
  const fields = id === 'id' ? [] : [id];
  return { id, label: t.list.internal[id], order, fields, linked: false, field: null, numeric: false };
}

/** All columns that a list of the type can have, besides the title. */
export function columnsOf(type: ContentType, form: Form): Column[] {
  return [
    ...(type.draftPublic ? [commonColumn('internal.status')] : []),
    ...(hasWorkflow(type) ? [commonColumn('internal.workflowState')] : []),
    ...form.fields
      .filter((field) => !KINDS_WITHOUT_COLUMN.has(field.kind) && !field.password && !field.title)
      .map(columnOfField),
    commonColumn('internal.updatedAt'),
    commonColumn('internal.updatedBy', null),
    commonColumn('internal.createdAt'),
    commonColumn('internal.createdBy', null),
    ...(type.draftPublic ? [commonColumn('internal.publishedAt'), commonColumn('internal.scheduledAt')] : []),
    { ...commonColumn('internal.latestVersion'), numeric: true },
    commonColumn('id'),
  ];
}

/** Ids of the columns that a list shows by default: those of the type, else a few short properties. */
export function defaultColumns(type: ContentType, form: Form): string[] {
  // The title has its column in any case.
  const named = type.admin.columns.filter((name) =>
    form.fields.some((field) => field.name === name && !field.title),
  );
  const short = form.fields
    .filter(
      (field) =>
        DEFAULT_COLUMN_KINDS.has(field.kind) &&
        !field.title &&
        !field.hidden &&
        !field.targets.includes(type.name),
    )
    .sort((a, b) => Number(b.required) - Number(a.required))
    .slice(0, 3)
    .map((field) => field.name);
  return [
    ...(type.draftPublic ? ['internal.status'] : []),
    ...(hasWorkflow(type) ? ['internal.workflowState'] : []),
    ...(named.length > 0 ? named : short),
    'internal.updatedAt',
    'internal.updatedBy',
  ];
}

/** The columns of a list, in the order of their ids. Unknown ids are left out. */
export function chosenColumns(all: Column[], ids: string[]): Column[] {
  return ids.flatMap((id) => all.find((column) => column.id === id) ?? []);
}

/** Paths for `fields[]`: what the columns show, and what every row needs. */
export function fieldsFor(columns: Column[]): string[] {
  return [...new Set(['internal', ...columns.flatMap((column) => column.fields)])];
}
