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
  item: (place) => `Eintrag ${String(place)}`,
  itemOf: (field, place) => `${field}, Eintrag ${String(place)}`,
  newItem: 'Neuer Eintrag',
  newItemOf: (field) => `${field}, neuer Eintrag`,
  addTo: (field) => `${field}: hinzufügen`,
  itemCount: (count) => plural(count, { one: '1 Eintrag', other: `${String(count)} Einträge` }),
  errors: (count) => plural(count, { one: '1 Fehler', other: `${String(count)} Fehler` }),
  duplicate: 'Duplizieren',
  removeItem: 'Entfernen',
  collapseAll: 'Alle zuklappen',
  expandAll: 'Aufklappen',
  showMore: 'Mehr zeigen',
};
