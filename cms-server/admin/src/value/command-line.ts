// Commands for a shell, as text. Sends no requests.

/** A word of a shell command: in quotes, unless it is plain. */
export function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command with those of its flags that have a value. */
export function commandLine(
  command: string,
  flags: [flag: string, value: string | null | undefined][],
): string {
  const options = flags.flatMap(([flag, value]) => (value ? [`--${flag} ${quoted(value)}`] : []));
  return [command, ...options].join(' ');
}
