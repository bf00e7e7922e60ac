// Einstellungen des Benutzers: Seite, Passwort, Sitzungen, Tastenkürzel.
import type { Texts } from '..';
import { plural } from '../format';

export const account: Texts['account'] = {
  title: 'Meine Einstellungen',
  page: 'Diese Seite',
  language: 'Sprache',
  languageHelp: 'Die Seite wird neu geladen; nicht gespeicherter Text bleibt erhalten.',
  theme: 'Farben',
  themes: { system: 'Wie das Gerät', light: 'Hell', dark: 'Dunkel', contrast: 'Hoher Kontrast' },
  density: 'Dichte',
  densities: { comfortable: 'Bequem', compact: 'Kompakt' },
  shortcuts: 'Tastenkürzel',
  shortcutsHelp: 'Jede Funktion ist auch ohne sie erreichbar.',
  storeWork: 'Nicht gespeicherten Text auf diesem Gerät zwischenspeichern',
  storeWorkHelp:
    'Schalten Sie es auf einem Gerät aus, das auch andere benutzen. Der Text wird dann nur auf dem Server zwischengespeichert, wenige Sekunden nach der Eingabe.',
  saved: 'Gespeichert.',
  workLeft: (count, text) =>
    plural(count, {
      one: 'Text an 1 Objekt konnte nicht an den Server gesendet werden. Er bleibt auf diesem Gerät.',
      other: `Text an ${text} Objekten konnte nicht an den Server gesendet werden. Er bleibt auf diesem Gerät.`,
    }),
  notStored: (reason) => `In diesem Browser angewandt, auf dem Server nicht gespeichert. ${reason}`,
  passwordTitle: 'Passwort',
  currentPassword: 'Aktuelles Passwort',
  newPassword: 'Neues Passwort',
  changePassword: 'Passwort ändern',
  passwordEnds: 'Alle Ihre anderen Sitzungen enden.',
  passwordChanged: 'Das Passwort ist geändert, alle anderen Sitzungen sind beendet.',
  sessions: 'Sitzungen',
  sessionsHelp: 'Browser, in denen Sie angemeldet sind.',
  device: 'Gerät',
  address: 'Adresse',
  lastUse: 'Zuletzt benutzt',
  signedIn: 'Angemeldet',
  thisSession: 'diese Sitzung',
  end: 'Beenden',
  endSession: (device) => `Sitzung beenden: ${device}`,
  endOthers: 'Alle anderen beenden',
  ended: 'Die Sitzung ist beendet.',
  othersEnded: 'Alle anderen Sitzungen sind beendet.',
  unknownDevice: 'Unbekanntes Gerät',
  showShortcuts: 'Tastenkürzel anzeigen',
  off: 'Tastenkürzel sind in Ihren Einstellungen ausgeschaltet.',
  keys: {
    palette: 'Suchen oder zu einem Bildschirm springen',
    save: 'Das offene Objekt speichern',
    publish: 'Das offene Objekt veröffentlichen',
    help: 'Diese Liste anzeigen',
    close: 'Dialog, Menü oder Liste schließen',
  },
};
