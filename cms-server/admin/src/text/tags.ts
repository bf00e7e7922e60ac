// Finds the tags of an HTML text one after the other, in time that grows with its length only: texts come from
// other people.

export interface Tag {
  /** Where it begins, and where the text after it begins. */
  from: number;
  end: number;
  /** In lower case; null for a comment. */
  name: string | null;
  closing: boolean;
  attributes: string;
}

const TAG_START = /<(\/?)([a-z][^\s/>]*)/iy;

/** The first tag or comment from a place on; null when there is none, or it does not end. */
export function nextTag(html: string, from: number): Tag | null {
  for (let at = html.indexOf('<', from); at >= 0; at = html.indexOf('<', at + 1)) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 4);
      return end < 0 ? null : { from: at, end: end + 3, name: null, closing: false, attributes: '' };
    }
    TAG_START.lastIndex = at;
    const start = TAG_START.exec(html);
    if (!start) continue;
    const nameEnd = TAG_START.lastIndex;
    const end = endOfTag(html, nameEnd);
    if (end < 0) return null;
    const [, slash, name = ''] = start;
    const attributes = html.slice(nameEnd, end - 1).trim();
    return { from: at, end, name: name.toLowerCase(), closing: slash === '/', attributes };
  }
  return null;
}

function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const mark = html[at];
    if (mark === '>') return at + 1;
    if (mark !== '"' && mark !== "'") continue;
    at = html.indexOf(mark, at + 1);
    if (at < 0) return -1;
  }
  return -1;
}
