// Languages of translations: their names, the items that have them, and those that can be added.
import { languageOf } from '../../object/translation-state';

/** The index of the item of a language: `likely` if that item has it, -1 if no item has it. */
export function indexOf(items: unknown[], language: string, likely: number): number {
  if (likely < items.length && languageOf(items[likely]) === language) return likely;
  return items.findIndex((item) => languageOf(item) === language);
}

/** Languages of ISO 639-1 that people write in; others are added by typing their code. */
const LANGUAGE_CODES =
  'af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fo fr fy ga gd gl gu he hi hr hu hy id is it ja ka kk ' +
  'km kn ko ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn pa pl ps pt rm ro ru si sk sl sq sr sv sw ta te tg th tk tr uk ' +
  'ur uz vi zh zu';

export function languageName(code: string, language: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** Languages whose name or code contains the text. A complete code is also offered if it is not in the list. */
export function languagesFor(
  text: string,
  used: string[],
  language: string,
): { key: string; label: string }[] {
  const wanted = text.trim().toLowerCase();
  const codes = LANGUAGE_CODES.split(' ');
  if (/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(text.trim()) && !codes.includes(wanted)) codes.push(text.trim());
  return codes
    .filter((code) => !used.includes(code))
    .map((code) => ({ key: code, label: `${languageName(code, language)} (${code})` }))
    .filter(({ key, label }) => label.toLowerCase().includes(wanted) || key.toLowerCase() === wanted)
    .sort(
      (a, b) =>
        Number(b.key === wanted) - Number(a.key === wanted) || a.label.localeCompare(b.label, language),
    );
}
