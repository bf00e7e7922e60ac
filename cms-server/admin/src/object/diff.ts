// Differences of two objects of a type, as values that ui/Diff.svelte shows. Knows no request: links are
// named by their URL, and titles are looked up by the screen.
import { t } from '../text';
import type { Field } from '../type/form';
import { isEqual } from '../value/equal';
import { isRecord } from '../value/record';
import { editorBlocks, htmlBlocks, type TextBlock } from './diff-blocks';
import { matchLists, type Match } from './diff-list';
import { diffWords, similarity, type TextPart } from './diff-text';

export type Change = Match<unknown>['change'];

export interface BlockDiff {
  change: Change;
  label: string;
  parts: TextPart[];
  /** The words are the same: marks, links or settings of the block changed. */
  onlyMarkup: boolean;
}

export interface ItemDiff {
  change: Change;
  diff: ValueDiff;
}

export interface PropertyDiff {
  name: string;
  label: string;
  change: 'changed' | 'added' | 'removed';
  diff: ValueDiff;
}

export type ValueDiff =
  | { kind: 'words'; parts: TextPart[] }
  | { kind: 'blocks'; blocks: BlockDiff[] }
  | { kind: 'list'; items: ItemDiff[] }
  | { kind: 'properties'; properties: PropertyDiff[] }
  | { kind: 'link'; url: string }
  /** Short values side by side; null is absent. */
  | { kind: 'values'; before: string | null; after: string | null };

type Values = Record<string, unknown>;

/** The properties that differ, in the order of the form; properties of no field come last, as JSON. */
export function diffObjects(fields: Field[], before: Values, after: Values): PropertyDiff[] {
  const declared = new Set(fields.map((field) => field.name));
  const others = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !declared.has(name),
  );
  const named = [
    ...fields.map((field) => ({ name: field.name, label: field.label, field })),
    ...others.map((name) => ({ name, label: name, field: null })),
  ];
  return named.flatMap(({ name, label, field }) => {
    const [old, now] = [before[name], after[name]];
    if (isEqual(old, now)) return [];
    const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
    return [{ name, label, change, diff: field ? diffValue(field, old, now) : diffJson(old, now) } as const];
  });
}

/** The difference of two values of a property. */
export function diffValue(field: Field, before: unknown, after: unknown): ValueDiff {
  switch (field.kind) {
    case 'text':
    case 'email':
    case 'textarea':
      if (areTexts(before, after))
        return field.password ? diffSecret(before, after) : diffTexts(before, after);
      break;
    case 'textMarkdown':
    case 'markdown':
      if (areTexts(before, after)) return diffLines(before, after);
      break;
    case 'richtext':
      if (areTexts(before, after)) return diffBlocks(htmlBlocks(text(before)), htmlBlocks(text(after)), true);
      break;
    case 'block':
      return diffBlocks(editorBlocks(before), editorBlocks(after), true);
    case 'datasource':
      return diffLinks(before, after);
    case 'object':
    case 'simpleList':
      if (areLists(before, after)) return diffItems(field, list(before), list(after));
      break;
    case 'select':
      if (field.multiple && areLists(before, after)) return diffItems(field, list(before), list(after));
      break;
    case 'custom':
      if (field.fields.length > 0 && isRecord(before) && isRecord(after))
        return { kind: 'properties', properties: diffObjects(field.fields, before, after) };
      break;
    case 'number':
    case 'radio':
    case 'checkbox':
    case 'dateTime':
    case 'geo':
      break;
  }
  const [old, now] = [valueText(field, before), valueText(field, after)];
  if (old === undefined || now === undefined) return diffJson(before, after);
  return { kind: 'values', before: old, after: now };
}

/** A short value as text: null when absent, undefined when only JSON can show it. */
function valueText(field: Field, value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string')
    return field.options.find((option) => option.value === value)?.label ?? value;
  if (field.kind === 'geo' && isRecord(value))
    return `${String(value.lat)}, ${String(value.lon ?? value.lng)}`;
  return undefined;
}

function diffTexts(before: unknown, after: unknown): ValueDiff {
  return { kind: 'words', parts: diffWords(text(before), text(after)) };
}

/** What is shown instead of a password. */
export const HIDDEN_PASSWORD = '••••';

/** Shows that a password changed, without the texts. */
function diffSecret(before: unknown, after: unknown): ValueDiff {
  const hidden = (value: unknown) => (value === undefined ? null : HIDDEN_PASSWORD);
  return { kind: 'values', before: hidden(before), after: hidden(after) };
}

function diffLines(before: unknown, after: unknown): ValueDiff {
  const lines = (value: unknown): TextBlock[] =>
    value === undefined
      ? []
      : text(value)
          .split(/\r?\n/)
          .map((line) => ({ label: '', text: line, markup: '' }));
  return diffBlocks(lines(before), lines(after), false);
}

function diffBlocks(before: TextBlock[], after: TextBlock[], moves: boolean): ValueDiff {
  const matches = matchLists(before, after, {
    keyOf: ({ label, text, markup }) => `${label}\n${text}\n${markup}`,
    similarity: (a, b) =>
      a.text === '' && b.text === '' && a.label === b.label ? 0.5 : similarity(a.text, b.text),
    moves,
  });
  return {
    kind: 'blocks',
    blocks: matches.map(({ change, before: old, after: now }) => ({
      change,
      label: now?.label ?? old?.label ?? '',
      parts: partsOf(change, old?.text ?? '', now?.text ?? ''),
      onlyMarkup: change === 'changed' && old?.text === now?.text,
    })),
  };
}

function partsOf(change: Change, before: string, after: string): TextPart[] {
  if (change === 'added') return [{ change: 'added', text: after }];
  if (change === 'removed') return [{ change: 'removed', text: before }];
  return diffWords(before, after);
}

function diffItems(field: Field, before: unknown[], after: unknown[]): ValueDiff {
  const matches = matchLists(before, after, {
    keyOf: canonical,
    similarity: (a, b) => itemSimilarity(a, b),
    moves: true,
  });
  return {
    kind: 'list',
    items: matches.map(({ change, before: old, after: now }) => ({
      change,
      diff: diffItem(field, old, now),
    })),
  };
}

function diffItem(field: Field, before: unknown, after: unknown): ValueDiff {
  const [old, now] = [before ?? {}, after ?? {}];
  if (isRecord(old) && isRecord(now) && field.fields.length > 0 && (isRecord(before) || isRecord(after))) {
    // An unchanged or moved item is shown with all its values, so that the user recognises it.
    const from = isEqual(before, after) ? {} : old;
    return { kind: 'properties', properties: diffObjects(field.fields, from, now) };
  }
  const [was, is] = [valueText(field, before), valueText(field, after)];
  if (was === undefined || is === undefined) return diffJson(before, after);
  return { kind: 'words', parts: itemParts(was, is) };
}

function itemParts(before: string | null, after: string | null): TextPart[] {
  if (before === null) return [{ change: 'added', text: after ?? '' }];
  if (after === null) return [{ change: 'removed', text: before }];
  return diffWords(before, after);
}

/** The similarity of two objects is the average similarity of their properties. */
function itemSimilarity(before: unknown, after: unknown): number {
  if (!isRecord(before) || !isRecord(after)) return similarity(valueOf(before), valueOf(after));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const score = names.reduce(
    (sum, name) =>
      sum +
      (isEqual(before[name], after[name]) ? 1 : similarity(valueOf(before[name]), valueOf(after[name]))),
    0,
  );
  return names.length === 0 ? 1 : score / names.length;
}

function diffLinks(before: unknown, after: unknown): ValueDiff {
  const urls = (value: unknown) =>
    list(value).flatMap((link) => (isRecord(link) && typeof link.dataUrl === 'string' ? [link.dataUrl] : []));
  const matches = matchLists(urls(before), urls(after), {
    keyOf: (url) => url,
    similarity: () => 0,
    moves: true,
  });
  return {
    kind: 'list',
    items: matches.map((match) => ({
      change: match.change,
      diff: { kind: 'link', url: match.after ?? match.before ?? '' },
    })),
  };
}

function diffJson(before: unknown, after: unknown): ValueDiff {
  const json = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value, null, 2));
  return diffLines(json(before), json(after));
}

/** URLs of the links in a difference, so that a screen can look up their titles. */
export function linksOf(properties: PropertyDiff[]): string[] {
  const inDiff = (diff: ValueDiff): string[] => {
    if (diff.kind === 'link') return [diff.url];
    if (diff.kind === 'list') return diff.items.flatMap((item) => inDiff(item.diff));
    return diff.kind === 'properties' ? linksOf(diff.properties) : [];
  };
  return [...new Set(properties.flatMap((property) => inDiff(property.diff)))];
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

const valueOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const areTexts = (...values: unknown[]) => values.every((v) => v === undefined || typeof v === 'string');
const areLists = (...values: unknown[]) => values.every((v) => v === undefined || Array.isArray(v));
