// Das Formular eines Objekts.
import type { Texts } from '..';

export const object: Texts['object'] = {
  missing: 'Dieses Objekt gibt es nicht',
  newTitle: (type) => `Neu: ${type}`,
  save: 'Speichern',
  saved: (version) => `Als Version ${String(version)} gespeichert.`,
  changes: (count) => (count === 1 ? '1 Änderung' : `${String(count)} Änderungen`),
  noChanges: 'Keine Änderungen',
  side: 'Über dieses Objekt',
  id: 'Id',
  tabs: 'Teile dieses Objekts',
  general: 'Allgemein',
  content: 'Inhalt',
  versions: 'Versionen',
  usedBy: 'Verwendet von',
};
