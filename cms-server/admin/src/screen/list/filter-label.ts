// A filter in words. Plain values; knows no request.
import { t } from '../../text';
import { number } from '../../text/format';
import { storedDate } from './cells';
import type { Condition, Scalar } from './conditions';
import { statusName, type Property } from './properties';

/** The label of an operator; for dates and times other labels, such as “before” for “less than”. */
export function operatorLabel(operator: Condition['type'], property: Property | undefined): string {
  const isTime = property?.kind === 'date' || property?.kind === 'dateTime' || property?.kind === 'instant';
  const names: Record<string, string> = t.list.timeOperators;
  return (isTime ? names[operator] : undefined) ?? t.list.operators[operator];
}

function valueLabel(
  value: Scalar,
  property: Property | undefined,
  titleOf: (address: string) => string,
): string {
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no;
  if (typeof value === 'number') return number(value, 20);
  const option = property?.options?.find((item) => item.value === value);
  if (option) return option.label;
  if (property?.kind === 'relation') return titleOf(value);
  if (property?.path === 'internal.status') return statusName(value);
  return property?.kind === 'text' || property?.kind === 'other' ? value : storedDate(value);
}

/** `Author: Nora Ahl, Ines Ros`; `Price at most 10`. */
export function filterLabel(
  path: string,
  condition: Condition,
  properties: Property[],
  titleOf: (address: string) => string,
): string {
  const property = properties.find((item) => item.path === path);
  const label = property?.label ?? path;
  const { type, filter, filter2 } = condition;
  if (type === 'empty' || type === 'notEmpty') return `${label} ${t.list.operators[type]}`;
  if (type === 'lastDays') return `${label} ${t.list.days(Number(filter))}`;
  const values = filter === undefined ? [] : Array.isArray(filter) ? filter : [filter];
  const texts = values.map((value) => valueLabel(value, property, titleOf));
  if (type === 'inRange') {
    const end = filter2 === undefined ? '' : valueLabel(filter2, property, titleOf);
    return `${label}: ${texts.join()} – ${end}`;
  }
  if (type === 'equals' || type === 'overlaps') return `${label}: ${texts.join(', ')}`;
  return `${label} ${operatorLabel(type, property)} ${texts.join(', ')}`;
}
