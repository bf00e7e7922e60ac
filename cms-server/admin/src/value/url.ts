// Addresses: their parts, which of them the page makes a link, and which images it loads.

const RELATIVE_BASE = 'https://relative.invalid/';
const SAFE_SCHEMES = ['http:', 'https:', 'mailto:', 'tel:'];

/** http, https, mailto, tel and relative addresses. Reads them as a browser does, who ignores tabs and case. */
export function isSafeUrl(url: string): boolean {
  try {
    return SAFE_SCHEMES.includes(new URL(url, RELATIVE_BASE).protocol);
  } catch {
    return false;
  }
}

/** An image of this server: the page loads nothing from elsewhere. */
export function isOwnImage(url: string): boolean {
  if (url.trim() === '') return false;
  try {
    const { protocol, origin } = new URL(url, location.href);
    return protocol === 'blob:' || origin === location.origin;
  } catch {
    return false;
  }
}

/** A part of an address as people read it; a damaged one as it stands. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
