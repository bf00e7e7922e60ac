// What a list can be filtered by: the properties of a type with the operators that fit their values.
// Plain values; knows no request.
import { hasWorkflow, type ContentType } from '../../type/definition';
import type { Field, Form, Option } from '../../type/form';
import { t } from '../../text';
import type { Operator, PathKind } from './conditions';

/** A property that a list can be filtered by. */
export interface Property {
  path: string;
  label: string;
  kind: PathKind;
  operators: Operator[];
  /** Values to choose from. */
  options?: Option[];
  /** Types of linked objects. */
  targets?: string[];
  /** The states of the workflow are the options. */
  workflow?: boolean;
}

const EMPTINESS_OPERATORS: Operator[] = ['empty', 'notEmpty'];
const TEXT_OPERATORS: Operator[] = [
  'contains',
  'notContains',
  'equals',
  'notEqual',
  'startsWith',
  'endsWith',
];
const NUMBER_OPERATORS: Operator[] = [
  'equals',
  'notEqual',
  'lessThan',
  'lessThanOrEqual',
  'greaterThan',
  'greaterThanOrEqual',
  'inRange',
];
const TIME_OPERATORS: Operator[] = ['lastDays', 'inRange', 'greaterThanOrEqual', 'lessThan'];

/** Properties of a type, those of every object first. */
export function propertiesOf(type: ContentType, form: Form): Property[] {
  const names = t.list.internal;
  const common: Property[] = [];
  if (type.draftPublic) {
    const options = ['draft', 'public', 'modified', 'archived'].map((value) => ({
      value,
      label: statusName(value),
    }));
    common.push({
      path: 'internal.status',
      label: names['internal.status'],
      kind: 'text',
      operators: ['equals', 'notEqual'],
      options,
    });
    common.push({
      path: 'internal.scheduledAt',
      label: names['internal.scheduledAt'],
      kind: 'instant',
      operators: ['notEmpty', 'empty', 'inRange'],
    });
  }
  if (hasWorkflow(type)) {
    common.push({
      path: 'internal.workflowState',
      label: names['internal.workflowState'],
      kind: 'text',
      operators: ['equals', 'notEqual'],
      workflow: true,
    });
  }
  const own = form.fields.flatMap((field) => propertiesOfField(field, field.name, field.label));
  return [
    ...common,
    ...own,
    {
      path: 'internal.updatedAt',
      label: names['internal.updatedAt'],
      kind: 'instant',
      operators: TIME_OPERATORS,
    },
    {
      path: 'internal.createdAt',
      label: names['internal.createdAt'],
      kind: 'instant',
      operators: TIME_OPERATORS,
    },
    ...(type.draftPublic
      ? [
          {
            path: 'internal.publishedAt',
            label: names['internal.publishedAt'],
            kind: 'instant',
            operators: [...TIME_OPERATORS, ...EMPTINESS_OPERATORS],
          } satisfies Property,
        ]
      : []),
    { path: 'id', label: names.id, kind: 'text', operators: TEXT_OPERATORS },
  ];
}

export function statusName(status: string): string {
  const names: Record<string, string> = t.common.status;
  return names[status] ?? status;
}

function propertiesOfField(field: Field, path: string, label: string): Property[] {
  if (field.password) return [];
  switch (field.kind) {
    case 'number':
      return [{ path, label, kind: 'number', operators: [...NUMBER_OPERATORS, ...EMPTINESS_OPERATORS] }];
    case 'checkbox':
      return [{ path, label, kind: 'boolean', operators: ['equals', ...EMPTINESS_OPERATORS] }];
    case 'radio':
    case 'select': {
      const operators: Operator[] = field.multiple ? ['overlaps', 'includes'] : ['equals', 'notEqual'];
      return [
        {
          path,
          label,
          kind: 'text',
          operators: [...operators, ...EMPTINESS_OPERATORS],
          options: field.options,
        },
      ];
    }
    case 'dateTime': {
      const kind = field.time ? 'dateTime' : 'date';
      return [{ path, label, kind, operators: [...TIME_OPERATORS, ...EMPTINESS_OPERATORS] }];
    }
    case 'datasource':
      return [
        {
          path: `${path}[*].dataUrl`,
          label,
          kind: 'relation',
          operators: ['equals', 'notEqual', ...EMPTINESS_OPERATORS],
          targets: field.targets,
        },
      ];
    case 'object':
      return [
        { path, label, kind: 'other', operators: EMPTINESS_OPERATORS },
        ...field.fields.flatMap((inner) =>
          propertiesOfField(inner, `${path}[*].${inner.name}`, `${label} › ${inner.label}`),
        ),
      ];
    case 'geo':
    case 'custom':
    case 'block':
      return [{ path, label, kind: 'other', operators: EMPTINESS_OPERATORS }];
    default:
      return [{ path, label, kind: 'text', operators: [...TEXT_OPERATORS, ...EMPTINESS_OPERATORS] }];
  }
}
