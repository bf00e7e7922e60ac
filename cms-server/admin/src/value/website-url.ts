// The URL of an object on the website, made from the preview URL of its type. Sends no requests.

/** Names of the properties in braces. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/**
 * A preview URL with the values of an object, without the token. Null when it needs the token in its path,
 * has no name in braces, or a value is missing.
 */
export function websiteUrl(template: string, values: Record<string, unknown>): string | null {
  const [address = '', hash = ''] = template.split(/(?=#)/);
  const [path = '', query = ''] = address.split('?');
  const parameters = query.split('&').filter((part) => part !== '' && !part.includes('{token}'));
  const withoutToken = `${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}${hash}`;
  const names = namesIn(withoutToken);
  if (names.length === 0) return null;
  let complete = true;
  const filled = withoutToken.replace(/\{([^{}]+)\}/g, (_all, name: string) => {
    const value = values[name];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    complete &&= text !== '';
    return encodeURIComponent(text);
  });
  return complete ? filled : null;
}
