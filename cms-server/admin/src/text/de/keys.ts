// API-Schlüssel: Liste, Regeln, Erneuerung.
import type { Texts } from '..';
import { plural } from '../format';

export const keys: Texts['keys'] = {
  about: 'Schlüssel sind für Programme. Menschen melden sich mit einem Konto an.',
  count: (count) => plural(count, { one: '1 Schlüssel', other: `${String(count)} Schlüssel` }),
  newKey: 'Neuer Schlüssel',
  empty:
    'Noch hat kein Programm einen Schlüssel. Ein Schlüssel liest und schreibt, was seine Regeln erlauben.',
  create: 'Schlüssel anlegen',
  change: 'Ändern …',
  changeTitle: (name) => `${name} ändern`,
  rotate: 'Erneuern …',
  revoke: 'Widerrufen …',
  actionsFor: (name) => `Aktionen für ${name}`,
  name: 'Name',
  nameHelp: 'Nennt in Versionen und Aktivität den Urheber dessen, was das Programm ändert.',
  kind: 'Art',
  kinds: {
    scoped: 'Nach Regeln',
    read_only: 'Nur lesen',
    read_write: 'Lesen und schreiben',
    admin: 'Administrator',
  },
  may: {
    scoped: 'Nur, was die Regeln unten erlauben; nie Inhaltstypen.',
    read_only: 'Liest alle Inhalte.',
    read_write: 'Liest und ändert alle Inhalte und Inhaltstypen.',
    admin: 'Alles, auch Benutzer, Schlüssel, Webhooks und System.',
  },
  kindStays: 'Die Art eines Schlüssels lässt sich nicht ändern.',
  rules: 'Regeln',
  rulesHelp:
    'Was der Schlüssel darf, nach Inhaltstyp. Ein Schlüssel, der ändern darf, darf auch veröffentlichen.',
  presets: 'Vorlagen',
  preset: {
    viewer: 'Leser: liest alle Typen',
    allButDelete: 'Alles außer Löschen: liest, legt an, ändert, veröffentlicht',
    allRights: 'Alle Rechte: löscht auch',
    none: 'Leeren',
  },
  moreRules: (count) => plural(count, { one: '1 weiterer Typ', other: `${String(count)} weitere Typen` }),
  noRules: 'keine Regeln',
  created: 'Angelegt',
  lastUse: 'Zuletzt benutzt',
  never: 'nie',
  previous: (until) => `Das vorige Token gilt bis ${until}.`,
  save: 'Speichern',
  saved: 'Gespeichert. Es gilt ab der nächsten Anfrage.',
  tokenTitle: (name) => `Token von ${name}`,
  tokenHelp:
    'Kopieren Sie das Token jetzt: Es wird nur dieses eine Mal angezeigt. Programme senden es im Header X-AUTH-TOKEN.',
  token: 'Token',
  tokenDone: 'Ich habe es gespeichert',
  rotateTitle: (name) => `${name} erneuern?`,
  rotateHelp: 'Der Schlüssel bekommt ein neues Token. Name, Regeln und Urheberschaft bleiben.',
  rotateVariable:
    'Ein Token, das der Server aus CMS_ADMIN_KEY, CMS_RW_KEY oder CMS_RO_KEY liest, gilt nach dem nächsten Start wieder: Ändern Sie auch die Variable.',
  rotateSubmit: 'Neues Token anlegen',
  grace: 'Das alte Token gilt',
  graces: {
    0: 'ab sofort nicht mehr',
    1: 'noch 1 Stunde',
    24: 'noch 1 Tag',
    72: 'noch 3 Tage',
    168: 'noch 7 Tage',
  },
  revokeTitle: (name) => `${name} widerrufen?`,
  revokeUsed: (when) =>
    `Zuletzt benutzt: ${when}. Programme mit diesem Schlüssel werden ab der nächsten Anfrage abgewiesen.`,
  revokeUnused: 'Keine Benutzung ist vermerkt. Der Server vermerkt sie mit einigen Minuten Verzögerung.',
  revokeFinal: 'Das lässt sich nicht rückgängig machen.',
  revokeSubmit: 'Schlüssel widerrufen',
  revoked: (name) => `${name} ist widerrufen.`,
};
