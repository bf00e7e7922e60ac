// A value as text for reading: texts without markup, options and properties by their labels, links by title.
import type { Field } from '../type/form';
import { targetOfPath } from '../value/link';
import { isRecord } from '../value/record';
import { diffValue, type ValueDiff } from './diff';

type Titles = ReadonlyMap<string, string>;

const NO_TITLES: Titles = new Map();

/** The text of a value that is not absent. `titles` has the titles of linked objects by URL. */
export function readableText(field: Field, value: unknown, titles = NO_TITLES): string {
  // Properties are only compared with those of another object.
  const nothing = field.fields.length > 0 && isRecord(value) ? {} : undefined;
  return textOf(diffValue(field, nothing, value), titles);
}

/** The title of a link; without one type and id of an object, else the complete URL. */
export function linkText(url: string, titles: Titles): string {
  const target = targetOfPath(url);
  return titles.get(url) ?? (target ? `${target.type} / ${target.id}` : url);
}

/** What a difference to nothing has added. */
function textOf(diff: ValueDiff, titles: Titles): string {
  switch (diff.kind) {
    case 'words':
      return diff.parts.map(({ text }) => text).join('');
    case 'blocks':
      return diff.blocks.map(({ parts }) => parts.map(({ text }) => text).join('')).join('\n');
    case 'list':
      return diff.items.map((item) => textOf(item.diff, titles)).join('\n');
    case 'properties':
      return diff.properties
        .map((property) => `${property.label}: ${textOf(property.diff, titles)}`)
        .join('\n');
    case 'link':
      return linkText(diff.url, titles);
    case 'values':
      return diff.after ?? '';
  }
}
