// Addresses: their parts, which of them the page makes a link, and which images it loads.

const RELATIVE_BASE = 'https://relative.invalid/';
const SAFE_SCHEMES = ['http:', 'https:', 'mailto:', 'tel:'];

/** Returns whether an address is relative, http, https, mailto or tel. Like browsers, it ignores tabs and case. */
export function isSafeUrl(url: string): boolean {
  try {
    return SAFE_SCHEMES.includes(new URL(url, RELATIVE_BASE).protocol);
  } catch {
    return false;
  }
}

/** Returns whether an image is on this server: the page loads no others. */
export function isOwnImage(url: string): boolean {
  if (url.trim() === '') return false;
  try {
    const { protocol, origin } = new URL(url, location.href);
    return protocol === 'blob:' || origin === location.origin;
  } catch {
    return false;
  }
}

/** A decoded part of an address; a part that cannot be decoded, such as `100%.png`, stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
