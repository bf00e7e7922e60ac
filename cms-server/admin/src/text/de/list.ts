// Listen von Objekten.
import type { Texts } from '..';

export const list: Texts['list'] = {
  create: (type) => `Neu: ${type}`,
  empty: 'Von diesem Typ gibt es noch keine Objekte.',
  count: (shown, total) => `${shown} von ${total}`,
  title: 'Titel',
  status: 'Status',
  edited: 'Geändert',
  by: 'Von',
  previous: 'Vorige Seite',
  next: 'Nächste Seite',
};
