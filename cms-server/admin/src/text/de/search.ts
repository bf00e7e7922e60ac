// Suche über alle Typen.
import type { Texts } from '..';
import { plural } from '../format';

export const search: Texts['search'] = {
  placeholder: 'Wörter in allen Inhalten …',
  syntax: 'Genauer suchen',
  examples: [
    ['langsamer kessel', 'beide Wörter, auch als Wortanfänge'],
    ['"langsamer kessel"', 'diese Wörter hintereinander'],
    ['tee NOT grün', 'ohne ein Wort; auch AND, OR und Klammern'],
    ['name:kessel', 'in einer Eigenschaft'],
    ['price:[5 TO 10]', 'ein Bereich von Zahlen oder Daten'],
    ['kesel~1', 'mit einem Tippfehler'],
  ],
  facets: 'Ergebnisse eingrenzen',
  types: 'Typ',
  allTypes: 'Alle Typen',
  statuses: 'Status',
  allStatuses: 'Jeder Status',
  results: 'Ergebnisse',
  incomplete: 'Der Suchindex enthält noch nicht alle Änderungen: Ergebnisse können fehlen.',
  count: (count, text) => plural(count, { one: '1 Ergebnis', other: `${text} Ergebnisse` }),
};
