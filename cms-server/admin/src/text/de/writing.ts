// Schreiben: ungespeicherte Arbeit, Änderungen anderer, Speichern.
import type { Texts } from '..';
import { plural } from '../format';

const properties = (names: string[]) =>
  names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} und ${String(names.length - 2)} weitere`;

export const writing: Texts['writing'] = {
  saveDraft: 'Entwurf speichern',
  saveVisible: 'Speichern, sofort sichtbar',
  create: 'Anlegen',
  saving: 'Wird gespeichert …',
  created: 'Angelegt.',
  stored: (time) => `abgelegt um ${time}`,
  storing: 'wird abgelegt …',
  notStored: 'nicht abgelegt: Lassen Sie diese Seite offen',
  deviceFailed:
    'Dieser Browser bewahrt Ihren Text nicht auf (sein Speicher ist voll oder abgeschaltet). Er liegt nur auf dem Server.',
  storeFailed:
    'Ihr Text konnte weder in diesem Browser noch auf dem Server abgelegt werden. Schließen Sie diese Seite nicht, bevor er gespeichert ist.',
  notSaved: 'Noch nicht gespeichert.',
  retryIn: (seconds) =>
    `Nächster Versuch in ${plural(seconds, { one: '1 Sekunde', other: `${String(seconds)} Sekunden` })}.`,
  tryNow: 'Jetzt versuchen',
  noRight: (right, type) =>
    `Ihnen fehlt das Recht, Objekte des Typs ${type} zu ${right}. Ihr Text bleibt abgelegt; ein Administrator kann Ihnen das Recht geben.`,
  right: { c: 'anzulegen', u: 'ändern' },
  tooLarge: 'Kürzen Sie den Text und speichern Sie erneut. Er bleibt abgelegt.',
  copyText: 'Meinen Text kopieren',
  copied: 'Kopiert.',
  discard: 'Verwerfen …',
  discardTitle: 'Ihre Änderungen verwerfen?',
  discardHelp:
    'Das Formular zeigt dann wieder das gespeicherte Objekt. Das lässt sich nicht rückgängig machen.',
  discardNew: 'Das Formular ist dann wieder leer. Das lässt sich nicht rückgängig machen.',
  discardNow: 'Änderungen verwerfen',
  errorsTitle: (count) =>
    plural(count, { one: '1 Validierungsfehler', other: `${String(count)} Validierungsfehler` }),
  restored: (time) => `Ihre Änderungen von ${time}, noch nicht gespeichert.`,
  stale: (time) => `Sie haben ungespeicherte Änderungen von ${time}. Das Objekt wurde seitdem geändert.`,
  show: 'Anzeigen',
  startAnother: 'Ein weiteres anlegen',
  compareMerge: 'Vergleichen und zusammenführen',
  myChanges: 'Ihre Änderungen',
  changesOf: (who) => `Änderungen von ${who}`,
  someone: 'Jemand anderes',
  names: (names) => new Intl.ListFormat('de').format(names),
  later: (who, version, names) => `${who} hat Version ${String(version)} gespeichert: ${properties(names)}.`,
  merge: 'Zusammenführen',
  converted: (names) => `Eine Änderung des Inhaltstyps hat ${properties(names)} umgewandelt.`,
  updated: (who, names) => `${who} hat ${properties(names)} geändert. Das Formular zeigt es.`,
  savedBoth: (version, who, names) =>
    `Als Version ${String(version)} gespeichert. ${who} hat ${properties(names)} geändert; beide Änderungen sind gespeichert.`,
  gone: (who, time) => `${who} hat dieses Objekt ${time} gelöscht. Ihr Text ist noch da.`,
  goneUnknown: 'Dieses Objekt wurde gelöscht. Ihr Text ist noch da.',
  restore: 'Wiederherstellen',
  saveAsNew: 'Meinen Text als neues Objekt speichern',
  typeGone:
    'Dieser Inhaltstyp wurde gelöscht, oder Sie dürfen ihn nicht mehr lesen. Speichern ist nicht möglich; Ihr Text steht noch zum Kopieren hier.',
  propertiesGone: (names) =>
    `Der Inhaltstyp hat sich geändert: ${properties(names)} gibt es nicht mehr. Was Sie dort geschrieben haben:`,
  dropValues: 'Diese Werte entfernen',
  here: (who) => `${who} ist auch hier`,
  hereIn: (who, field) => `${who} ist auch hier, in ${field}`,
  me: 'Sie (anderer Tab)',
  decide: 'Beide haben dieselbe Eigenschaft geändert',
  decideFound: 'Vergleichen und zusammenführen',
  decideHelp: (who, version) =>
    `${who} hat Version ${String(version)} gespeichert, während Sie geschrieben haben.`,
  merged: (names) => `Ohne Konflikt zusammengeführt: ${properties(names)}.`,
  before: 'Vorher',
  theirs: (who) => who,
  mine: 'Sie',
  useTheirs: (who) => `Text von ${who} nehmen`,
  useMine: 'Meinen nehmen',
  edit: 'Bearbeiten',
  empty: 'leer',
  back: 'Zurück zum Schreiben',
  saveChoices: 'So speichern',
  takeChoices: 'So ins Formular übernehmen',
  copyMine: 'Alles von mir kopieren',
  reset: 'Zurücksetzen',
  resetLabel: (field) => `${field} auf den gespeicherten Wert zurücksetzen`,
  previous: 'Voriger Wert',
  previousLabel: (field) => `Den vorigen Wert von ${field} anzeigen`,
  singleEmpty: 'Dieses Objekt gibt es noch nicht, und Ihnen fehlt das Recht, es anzulegen.',
};
