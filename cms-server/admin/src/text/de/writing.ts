// Schreiben: ungespeicherte Arbeit, Änderungen anderer, Speichern.
import { plural } from '../format';
import type { Texts } from '..';

const properties = (names: string[]) =>
  names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} und ${String(names.length - 2)} weitere`;

export const writing: Texts['writing'] = {
  saveDraft: 'Entwurf speichern',
  saveVisible: 'Speichern, sofort sichtbar',
  saving: 'Wird gespeichert …',
  stored: (time) => `zwischengespeichert um ${time}`,
  storing: 'wird zwischengespeichert …',
  notStored: 'nicht zwischengespeichert: Lassen Sie diese Seite offen',
  deviceFailed:
    'Dieser Browser bewahrt Ihren Text nicht auf (sein Speicher ist voll oder abgeschaltet). Er liegt nur auf dem Server.',
  storeFailed:
    'Ihr Text konnte weder in diesem Browser noch auf dem Server zwischengespeichert werden. Schließen Sie diese Seite nicht, bevor er gespeichert ist.',
  noTag:
    'Nicht gespeichert: Die Antwort des Servers kam ohne ihr ETag, deshalb könnten Änderungen anderer überschrieben werden. Vielleicht hat ein Proxy es entfernt.',
  notSaved: 'Noch nicht gespeichert.',
  retryIn: (seconds) =>
    `Nächster Versuch in ${plural(seconds, { one: '1 Sekunde', other: `${String(seconds)} Sekunden` })}.`,
  retryNow: 'Jetzt versuchen',
  noRight: (right, type) =>
    `Ihnen fehlt das Recht, Objekte des Typs ${type} ${right}. Ihr Text bleibt zwischengespeichert; ein Administrator kann Ihnen das Recht geben.`,
  right: { c: 'anzulegen', u: 'zu ändern' },
  discard: 'Verwerfen …',
  restored: (time) => `Ihre Änderungen von ${time}, noch nicht gespeichert.`,
  staleWork: (time) => `Sie haben ungespeicherte Änderungen von ${time}. Das Objekt wurde seitdem geändert.`,
  show: 'Anzeigen',
  startAnother: 'Ein weiteres anlegen',
  compareMerge: 'Vergleichen und zusammenführen',
  unknownAuthor: 'einer anderen Person',
  unknownUser: 'Jemand anderes',
  names: (names) => new Intl.ListFormat('de').format(names),
  newerVersion: (who, version, names) => `Version ${String(version)} ist von ${who}: ${properties(names)}.`,
  barNewer: (who, version) =>
    `Version ${String(version)} von ${who} ist gespeichert; beim Speichern wird sie mit Ihren Änderungen zusammengeführt.`,
  barDeleted:
    'Dieses Objekt wurde gelöscht: Oberhalb des Formulars können Sie es wiederherstellen oder Ihren Text als neues Objekt speichern.',
  merge: 'Zusammenführen',
  converted: (names) => `Eine Änderung des Inhaltstyps hat ${properties(names)} umgewandelt.`,
  updated: (who, names) => `Geändert von ${who}: ${properties(names)}. Das Formular zeigt es.`,
  savedBoth: (version, who, names) =>
    `Als Version ${String(version)} gespeichert, mit Änderungen von ${who}: ${properties(names)}.`,
  deleted: (who, time) => `Dieses Objekt wurde ${time} von ${who} gelöscht. Ihr Text ist noch da.`,
  deletedUnknown: 'Dieses Objekt wurde gelöscht. Ihr Text ist noch da.',
  restore: 'Wiederherstellen',
  saveAsNew: 'Meinen Text als neues Objekt speichern',
  typeGone:
    'Dieser Inhaltstyp wurde gelöscht, oder Sie dürfen ihn nicht mehr lesen. Speichern ist nicht möglich; Ihr Text steht noch zum Kopieren hier.',
  propertiesGone: (names) =>
    `Der Inhaltstyp hat sich geändert: ${properties(names)} gibt es nicht mehr. Was Sie dort geschrieben haben:`,
  dropValues: 'Diese Werte entfernen',
  here: (who) => `${who} ist auch hier`,
  hereIn: (who, field) => `${who} ist auch hier, in ${field}`,
  meHere: 'Auch in einem anderen Tab von Ihnen geöffnet',
  meHereIn: (field) => `Auch in einem anderen Tab von Ihnen geöffnet, in ${field}`,
  merged: (names) => `Ohne Konflikt zusammengeführt: ${properties(names)}.`,
  reset: 'Zurücksetzen',
  resetLabel: (field) => `${field} auf den gespeicherten Wert zurücksetzen`,
  previous: 'Voriger Wert',
  previousLabel: (field) => `Den vorigen Wert von ${field} anzeigen`,
  singleEmpty: 'Dieses Objekt gibt es noch nicht, und Ihnen fehlt das Recht, es anzulegen.',
};
