// Verknüpfungen mit anderen Objekten.
import type { Texts } from '..';

export const relation: Texts['relation'] = {
  search: (field) => `${field}: suchen`,
  type: (field) => `${field}: Typ`,
  chooseType: 'Typ wählen …',
  external: 'Externe Adresse (URL)',
  placeholder: 'Suchen …',
  mayNotRead: 'Sie dürfen diesen Typ nicht lesen.',
  create: (type, title) => (title === '' ? `Neu: ${type}` : `Neu: ${type} „${title}“`),
  address: 'Adresse',
  missing: 'gibt es nicht mehr',
  unknown: 'konnte nicht gelesen werden',
  damaged: 'ist keine Verknüpfung',
  notPublic: 'für Besucher noch nicht sichtbar',
  openFull: 'Als Seite öffnen',
  unsavedNew: (title, list) =>
    `${title} ist nicht gespeichert. Es ist zwischengespeichert: weiter unter „${list}“ auf der Startseite.`,
  unsaved: (title) =>
    `${title} hat nicht gespeicherte Änderungen. Sie sind zwischengespeichert: öffnen Sie es wieder, um weiterzuschreiben.`,
};
