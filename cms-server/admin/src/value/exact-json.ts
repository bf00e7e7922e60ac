// JSON texts that stay as they were: parsing and writing them would round long numbers, shorten `1.0` and put
// members such as "2" first. The text of a parsed object is kept with it.
import { isEqual } from './equal';
import { isRecord } from './record';

const texts = new WeakMap<object, Map<string, string>>();

/** Keeps the text that `values` were parsed from; the text may have members that `values` lacks. */
export function recordSourceText(values: object, text: string): void {
  texts.set(values, membersOf(text));
}

/** Keeps the texts of `from` also for `to`, which is a copy of `from` or of some of its members. */
export function copySourceTexts(from: object, to: object): void {
  const known = texts.get(from);
  if (known) texts.set(to, known);
}

/** If a member of parsed values is an object, keeps its text; if it is a list, keeps the text of each object in it. */
export function recordMemberText(values: object, name: string, member: unknown): void {
  const text = memberText(values, name);
  if (text === undefined) return;
  if (isRecord(member)) recordSourceText(member, text);
  if (!Array.isArray(member)) return;
  elementsOf(text).forEach((element, index) => {
    const value: unknown = member[index];
    if (isRecord(value)) recordSourceText(value, element);
  });
}

/** The text of one member of parsed values. */
export function memberText(values: object, name: string): string | undefined {
  return texts.get(values)?.get(name);
}

/** Returns whether a member of parsed values equals `value` exactly: false if one of its numbers was rounded. */
export function isExactly(values: Record<string, unknown>, name: string, value: unknown): boolean {
  if (!isEqual(values[name], value)) return false;
  return !hasRoundedNumber(memberText(values, name) ?? '');
}

/** Returns whether a JSON text has a number with more digits than JavaScript can store. */
export function hasRoundedNumber(text: string): boolean {
  const withoutStrings = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  return (withoutStrings.match(/\d[\d.e+-]*/gi) ?? []).some(isRounded);
}

/** Returns whether a number has more digits than JavaScript can store. */
export function isRounded(text: string): boolean {
  return digitsOf(text) !== digitsOf(String(Number(text)));
}

/** The digits of a number without its exponent, and without zeros at either end. */
function digitsOf(text: string): string {
  return text
    .replace(/e.*$/i, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');
}

/**
 * `values` as JSON. A value that equals the member of the same name in a source keeps the original text of that member.
 */
export function exactText(
  values: Record<string, unknown>,
  sources: readonly Record<string, unknown>[],
): string {
  const members = Object.entries(values).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${textOf(name, value, sources)}`).join(',')}}`;
}

function textOf(name: string, value: unknown, sources: readonly Record<string, unknown>[]): string {
  for (const source of sources) {
    const text = memberText(source, name);
    if (text !== undefined && isEqual(value, source[name])) return text;
  }
  const [first] = sources;
  return write(value, first?.[name], first && memberText(first, name));
}

/** A changed value: the parts of it that are not changed keep their text. */
function write(value: unknown, old: unknown, text: string | undefined): string {
  if (value === undefined) return 'null';
  if (text === undefined) return JSON.stringify(value);
  if (isEqual(value, old)) return text;
  if (Array.isArray(value) && Array.isArray(old)) {
    const elements = elementsOf(text);
    const places = new Map(old.map((element, index) => [element, index]));
    const parts = value.map((element, index) => {
      // Different long numbers may be equal after they were rounded.
      const place = old[index] === element ? index : (places.get(element) ?? index);
      return write(element, old[place], elements[place]);
    });
    return `[${parts.join(',')}]`;
  }
  if (!isRecord(value) || !isRecord(old)) return JSON.stringify(value);
  const members = membersOf(text);
  const parts = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member, old[name], members.get(name))}`);
  return `{${parts.join(',')}}`;
}

/** The texts of the members of an object. The text is valid JSON. */
function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = afterSpace(text, afterSpace(text, 0) + 1);
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at);
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    members.set(String(JSON.parse(text.slice(at, nameEnd))), text.slice(start, end));
    at = afterSpace(text, afterSpace(text, end) + 1);
  }
  return members;
}

function elementsOf(text: string): string[] {
  const elements: string[] = [];
  let at = afterSpace(text, afterSpace(text, 0) + 1);
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = afterSpace(text, afterSpace(text, end) + 1);
  }
  return elements;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function valueEnd(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = stringEnd(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (char === ',' || text.charCodeAt(at) <= 0x20)) return at;
    at += 1;
  }
  return at;
}
