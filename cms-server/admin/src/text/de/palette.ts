// Die Befehlspalette.
import type { Texts } from '..';

export const palette: Texts['palette'] = {
  actions: 'Aktionen',
  recent: 'Zuletzt geöffnet',
  objects: 'Objekte',
  types: 'Typen',
  screens: 'Bildschirme',
  search: 'Suche',
  list: 'Liste',
  searchFor: (text) => `Überall nach „${text}“ suchen`,
  hint: 'Pfeiltasten wählen, Enter öffnet. „post: kessel“ sucht in einem Typ.',
};
