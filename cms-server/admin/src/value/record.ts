// A JSON object, told apart from arrays and null.
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object with the given keys. */
export function pick(from: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]]));
}

/** Sets a member, which stays at its place; undefined removes it. */
export function withMember(
  object: Record<string, unknown>,
  key: string,
  value: unknown,
): Record<string, unknown> {
  if (value !== undefined) return { ...object, [key]: value };
  const { [key]: _removed, ...others } = object;
  return others;
}
