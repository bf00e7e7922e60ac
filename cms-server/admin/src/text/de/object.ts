// Das Formular eines Objekts.
import type { Texts } from '..';

export const object: Texts['object'] = {
  deletedTitle: 'Dieses Objekt wurde gelöscht',
  deletedBy: (who: string, time: string) => `${who} hat dieses Objekt ${time} gelöscht.`,
  missing: 'Dieses Objekt gibt es nicht',
  readonly: (right: string, type: string) =>
    `Sie können das nur lesen. Fehlendes Recht: Objekte vom Typ ${type} ${right}.`,
  readonlyPublic: 'Sie können das nur lesen: Es ist öffentlich. Fehlendes Recht: Veröffentlichen.',
  rights: { c: 'anlegen', u: 'ändern' },
  isReadonly: 'Nur lesbar',
  save: 'Speichern',
  saved: (version) => `Als Version ${String(version)} gespeichert.`,
  changes: (count) => (count === 1 ? '1 Änderung' : `${String(count)} Änderungen`),
  noChanges: 'Keine Änderungen',
  toSide: 'Aktionen',
  side: 'Über dieses Objekt',
  id: 'Id',
  tabs: 'Teile dieses Objekts',
  general: 'Allgemein',
  content: 'Inhalt',
  translations: 'Übersetzungen',
  versions: 'Versionen',
  usedBy: 'Verwendet von',
};
