// Conditions of a list: between the address of the page, the `filters` of the API, and the search language.
// Plain values; knows no screen and no request.
import { daysBefore, isoDate, serverNow } from '../../value/clock';
import { dayOf } from '../../value/day';
import { parsedJson } from '../../value/json';
import { isRecord } from '../../value/record';
import { exactValue } from '../../value/search-text';

export const OPERATORS = [
  'contains',
  'notContains',
  'equals',
  'notEqual',
  'startsWith',
  'endsWith',
  'lessThan',
  'lessThanOrEqual',
  'greaterThan',
  'greaterThanOrEqual',
  'inRange',
  'lastDays',
  'overlaps',
  'includes',
  'empty',
  'notEmpty',
] as const;
/** A filter type of the API, or `lastDays`: a number of days before now. */
export type Operator = (typeof OPERATORS)[number];

export type Scalar = string | number | boolean;

export interface Condition {
  type: Operator;
  filter?: Scalar | Scalar[];
  filter2?: Scalar;
}

/** Conditions by property path, as in the parameter `filters` of the API. All of them must match. */
export type Conditions = Record<string, Condition>;

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Reads conditions, without those that are not valid. */
export function readConditions(value: unknown): Conditions {
  const conditions: Conditions = {};
  if (!isRecord(value)) return conditions;
  for (const [path, item] of Object.entries(value)) {
    const type = isRecord(item) ? OPERATORS.find((operator) => operator === item.type) : undefined;
    if (!isRecord(item) || type === undefined) continue;
    const condition: Condition = { type };
    if (isScalar(item.filter)) condition.filter = item.filter;
    else if (Array.isArray(item.filter)) condition.filter = item.filter.filter(isScalar);
    if (isScalar(item.filter2)) condition.filter2 = item.filter2;
    if (isComplete(condition)) conditions[path] = condition;
  }
  return conditions;
}

/** Reads the text of the address. */
export function parseConditions(text: string | null): Conditions {
  return readConditions(parsedJson(text ?? ''));
}

/** The text for the address; empty without conditions. */
export function conditionsText(conditions: Conditions): string {
  return Object.keys(conditions).length === 0 ? '' : JSON.stringify(conditions);
}

/** Returns whether a condition has the values that its operator needs. */
export function isComplete({ type, filter, filter2 }: Condition): boolean {
  if (type === 'empty' || type === 'notEmpty') return true;
  if (Array.isArray(filter)) return filter.length > 0;
  if (filter === undefined || filter === '') return false;
  return type !== 'inRange' || (filter2 !== undefined && filter2 !== '');
}

/**
 * How the values of a path are compared. `date` is a day; `dateTime` a day with a local time,
 * without a time zone; `instant` a moment in UTC, such as `internal.updatedAt`.
 */
export type PathKind = 'text' | 'number' | 'date' | 'dateTime' | 'instant' | 'boolean' | 'relation' | 'other';

const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/;

/** Conditions for the API. Compared with a property that has times, a day becomes a time of that day. */
export function apiConditions(
  conditions: Conditions,
  kindOf: (path: string) => PathKind,
  now = serverNow(),
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(conditions).map(([path, condition]) => [path, apiCondition(condition, kindOf(path), now)]),
  );
}

function apiCondition(condition: Condition, kind: PathKind, now: number): Record<string, unknown> {
  const { type, filter, filter2 } = condition;
  if (type === 'lastDays') {
    const days = Number(filter);
    // Timestamps that the server sets are never in the future; dates in properties may be.
    if (kind === 'instant') return { type: 'greaterThanOrEqual', filter: daysBefore(days, now) ?? filter };
    // Dates in properties have no time zone: they are compared with days of the browser.
    const today = dayOf(now);
    const from = daysBefore(days, Date.parse(today))?.slice(0, -'.000Z'.length);
    return { type: 'inRange', filter: from ?? filter, filter2: `${today}T23:59:59` };
  }
  if (kind !== 'instant' && kind !== 'dateTime') return { ...condition };
  // If a condition includes the complete day, or begins after it, the day stands for its last second.
  const usesEndOfDay = type === 'lessThanOrEqual' || type === 'greaterThan';
  const result: Record<string, unknown> = { type };
  if (filter !== undefined) result.filter = dayBoundary(filter, kind, usesEndOfDay);
  if (filter2 !== undefined) result.filter2 = dayBoundary(filter2, kind, true);
  return result;
}

/** A day as its first or last second, for `instant` in the time zone of the browser; other values as they are. */
function dayBoundary(value: Scalar | Scalar[], kind: PathKind, last: boolean): Scalar | Scalar[] {
  if (typeof value !== 'string' || !DATE_PATTERN.test(value)) return value;
  const local = `${value}T${last ? '23:59:59' : '00:00:00'}`;
  return kind === 'instant' ? (isoDate(local) ?? value) : local;
}

/**
 * Conditions of the API as `filters[<path>]` of the search, which ranks words. `ignored` names paths that the
 * search language cannot express.
 */
export function searchFilters(conditions: Record<string, unknown>): {
  filters: Record<string, string>;
  ignored: string[];
} {
  const filters: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [path, condition] of Object.entries(conditions)) {
    const query = isRecord(condition) ? searchFilter(condition) : null;
    if (query === null) ignored.push(path);
    else filters[path.replace(/\[\*\]/g, '').replace(/\.dataUrl$/, '')] = query;
  }
  return { filters, ignored };
}

function searchFilter({ type, filter, filter2 }: Record<string, unknown>): string | null {
  const values = (Array.isArray(filter) ? filter : [filter]).filter(isScalar);
  const any = () => `(${values.map(exactValue).join(' OR ')})`;
  switch (type) {
    case 'empty':
      return 'NOT *';
    case 'notEmpty':
      return '*';
    case 'equals':
    case 'overlaps':
      return any();
    case 'notEqual':
      return `NOT ${any()}`;
    case 'includes':
      return values.map(exactValue).join(' AND ');
    case 'contains':
      return wordsWith(values);
    case 'notContains': {
      const found = wordsWith(values);
      return found === null ? null : `NOT (${found})`;
    }
    case 'lessThan':
      return `<${String(values[0])}`;
    case 'lessThanOrEqual':
      return `<=${String(values[0])}`;
    case 'greaterThan':
      return `>${String(values[0])}`;
    case 'greaterThanOrEqual':
      return `>=${String(values[0])}`;
    case 'inRange':
      return `[${String(values[0])} TO ${String(filter2)}]`;
    default:
      return null;
  }
}

/**
 * The query for words that contain one of the texts; null if one of them is not a word, since a search does not know
 * the order of words.
 */
function wordsWith(values: Scalar[]): string | null {
  const areWords = values.length > 0 && values.every((value) => /^[\p{L}\p{N}]+$/u.test(String(value)));
  return areWords ? values.map((value) => `*${String(value)}*`).join(' OR ') : null;
}
