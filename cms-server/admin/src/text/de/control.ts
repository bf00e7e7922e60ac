// Bedienelemente aus mehreren Teilen: Auswahl, Listen, Bilder.
import type { Texts } from '..';
import { plural } from '../format';

export const control: Texts['control'] = {
  nothingFound: 'Nichts gefunden.',
  suggestions: 'Vorschläge',
  suggestionCount: (count) => plural(count, { one: '1 Vorschlag', other: `${String(count)} Vorschläge` }),
  remove: (name) => `${name} entfernen`,
  move: (name) => `${name} verschieben`,
  moveHint: 'Ziehen, oder Alt und eine Pfeiltaste drücken',
  moveUp: 'Nach oben',
  moveDown: 'Nach unten',
  moveBack: 'Nach vorn',
  moveForward: 'Nach hinten',
  moveFirst: 'An den Anfang',
  moveLast: 'Ans Ende',
  moved: (name, place, count) => `${name} ist jetzt Nummer ${String(place)} von ${String(count)}.`,
  order: 'Reihenfolge',
  removed: (name) => `${name} wurde entfernt.`,
  undo: 'Rückgängig',
};
