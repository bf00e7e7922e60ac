// Slugs as the server generates them: ASCII letters in lower case, everything else is a hyphen. The server
// transliterates all writing systems; the page knows the letters of Latin, Greek and Cyrillic texts.

/** ASCII texts, each with its letters (`ss:ß`). Letters that only lose their marks, as é becomes e, are not listed. */
// prettier-ignore
const TRANSLITERATIONS =
  '-c-:© -n:ŉ -r-:® 1:¹ 1-2:½ 1-4:¼ 2:² 3:³ 3-4:¾ a:ªΆΑάαАа ae:Ææ b:ΒβБб c-:¢ ch:Чч d:ÐðĐđΔδДд deg:° dj:Ђђ dz:Ѕѕ dzh:Џџ e:ΈΉΕΗέήεηЄЕЭеэ eur:€ f:Фф g:ΓγГг gj:Ѓѓ h:Ħħ i:ıΊΐΙΪίιϊІЍИЙийіѝ ia:Яя ie:Ѐѐє ij:Ĳĳ io:Ёё iu:Юю j:Јј k:ĸΚκКк kh:ΧχХх kj:Ќќ ks:Ξ l:ĿŀŁłΛλЛл lj:Љљ m:ΜμМм n:ΝνНн ng:Ŋŋ nj:Њњ o:ºØøΌΏΟΩοωόώОо oe:Œœ p:¶ΠπПп ph:Φφ ps:£Ψψ r:ΡρРр s:ſΣςσСс sh:Шш shch:Щщ ss:§ßẞ t:ŦŧΤτТт th:ÞþΘθ tm:™ ts:Цц tsh:Ћћ u:µΎΥΫΰυϋύЎУуў v:Вв x:×ξ y:Ыы y-:¥ yi:Її z:ΖζЗз zh:Жж';
/** Characters that separate words, and invisible ones that do not. */
const SEPARATORS = /^[¡¤¦¨«¬¯±´·¸»¿÷ЪЬъь\p{Pd}\p{Pi}\p{Pf}\p{Z}…‚„•†]$/u;
const INVISIBLE = /^[\u00ad\u200c-\u200f\u2060]$/u;

const letters = new Map<string, string>();
for (const entry of TRANSLITERATIONS.split(' ')) {
  const [ascii = '', all = ''] = entry.split(':');
  for (const letter of all) letters.set(letter, ascii);
}

/** The slug of a text; null when it has letters that only the server can transliterate. */
export function slugOf(text: string): string | null {
  let ascii = '';
  for (const letter of text.normalize('NFC')) {
    const known = transliterated(letter);
    if (known === null) return null;
    ascii += known;
  }
  return ascii
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function transliterated(letter: string): string | null {
  if (letter <= '\u007f') return letter;
  const known = letters.get(letter);
  if (known !== undefined) return known;
  if (INVISIBLE.test(letter)) return '';
  if (SEPARATORS.test(letter)) return '-';
  const plain = letter.normalize('NFD').replace(/\p{M}/gu, '');
  return /^[a-z]+$/i.test(plain) ? plain : null;
}
