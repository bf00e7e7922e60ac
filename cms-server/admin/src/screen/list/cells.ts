// What a cell of a list shows. Plain values; knows no request.
import type { Field } from '../../type/form';
import { record, records, string } from '../../type/definition';
import { dateTime, number } from '../../text/format';
import { locale, t } from '../../text';
import { targetOf } from '../../value/link';
import { fileOfUrl, thumbnailPath } from '../../value/media';
import { displayTitle } from '../../value/title';

/** A link with the title of its object; without the object, the id is the title. */
export interface Linked {
  id: string;
  title: string;
  /** URL of a thumbnail. */
  image: string | null;
}

/** Links of a relation. Objects stand in place of links where the server has followed them. */
export function linksOf(value: unknown): Linked[] {
  return records(value).map((item) => {
    if (typeof item.dataUrl === 'string') {
      const id = targetOf(item)?.id ?? item.dataUrl;
      return { id, title: id, image: null };
    }
    const id = string(item.id) ?? '';
    const file = string(item.type) === 'image' ? fileOfUrl(item.url) : null;
    const title = displayTitle(string(record(item.internal).objectTitle), id);
    return { id, title, image: file ? thumbnailPath(file) : null };
  });
}

/** A date without a time zone is shown as it is stored. */
export function storedDate(value: string): string {
  const parts = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?)?$/.exec(value);
  if (!parts) return /^\d{4}-\d\d-\d\dT/.test(value) ? dateTime(value) : value;
  const [, year, month, day, hour, minute] = parts.map(Number);
  const date = new Date(year ?? 0, (month ?? 1) - 1, day ?? 1, hour || 0, minute || 0);
  const style: Intl.DateTimeFormatOptions = { dateStyle: 'medium' };
  if (parts[4] !== undefined) style.timeStyle = 'short';
  return new Intl.DateTimeFormat(locale, style).format(date);
}

/** The text of a cell. */
export function cellText(field: Field, value: unknown): string {
  if (value === undefined || value === null || value === '') return t.common.none;
  if (field.kind === 'checkbox') return value === true ? t.common.yes : t.common.no;
  if (field.kind === 'number' && typeof value === 'number') return number(value, 20);
  if (field.kind === 'dateTime' && typeof value === 'string') return storedDate(value);
  if (field.kind === 'geo') {
    const { lat, lon } = record(value);
    return `${String(lat)}, ${String(lon)}`;
  }
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const label = (item: unknown) =>
    field.options.find((option) => option.value === String(item))?.label ??
    (typeof item === 'string' ? item : JSON.stringify(item));
  return values.length === 0 ? t.common.none : values.map(label).join(', ');
}
