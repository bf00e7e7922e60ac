// Characters as people count them: an emoji of several code points is one.

/** The first character of a text, without spaces before it. */
export function firstCharacter(text: string): string {
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.trim());
  return first?.segment ?? '';
}
