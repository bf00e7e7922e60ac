// Commands as texts.
import { expect, test } from 'vitest';
import { commandLine, quoted } from './command-line';

test('a word is in quotes unless it is plain', () => {
  expect(quoted('2026-01-31T09:00')).toBe('2026-01-31T09:00');
  expect(quoted("Ada's key")).toBe(`'Ada'\\''s key'`);
});

test('a command has the flags that have a value', () => {
  expect(commandLine('cms activity', [])).toBe('cms activity');
  const flags: [string, string | null][] = [
    ['type', 'post'],
    ['by', ''],
    ['id', null],
    ['action', 'a b'],
  ];
  expect(commandLine('cms activity', flags)).toBe("cms activity --type post --action 'a b'");
});
