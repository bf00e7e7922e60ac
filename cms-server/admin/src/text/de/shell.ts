// Der Rahmen um jeden Bildschirm.
import type { Texts } from '..';
import { plural } from '../format';

export const shell: Texts['shell'] = {
  skip: 'Zum Inhalt springen',
  navigation: 'Navigation',
  menu: 'Menü',
  content: 'Inhalte',
  all: 'Alles',
  home: 'Start',
  media: 'Medien',
  trash: 'Papierkorb',
  activity: 'Aktivität',
  schedule: 'Zeitplan',
  search: 'Suchen oder springen zu …',
  account: 'Konto',
  settings: 'Meine Einstellungen',
  signOut: 'Abmelden',
  offline:
    'Keine Verbindung. Ihr Text wird in diesem Browser zwischengespeichert und gespeichert, sobald die Verbindung besteht.',
  screenOffline: 'Dieser Bildschirm wird geladen, sobald die Verbindung wieder da ist.',
  requests: 'Anfragen dieser Seite',
  shortcuts: 'Tastenkürzel',
  leaveTypes: 'Ihre Änderungen an Inhaltstypen sind nicht angewendet. Abmelden und sie verlieren?',
  leave: 'Ihre Änderungen konnten nicht zwischengespeichert werden. Trotzdem verlassen und sie verlieren?',
  leaveUploads:
    'Dateien werden noch hochgeladen. Wenn Sie die Seite jetzt verlassen, werden sie diesem Objekt nicht hinzugefügt. Trotzdem verlassen?',
  signOutUploads: 'Dateien werden noch hochgeladen. Abmelden und das Hochladen abbrechen?',
  signOutLoses: (count) =>
    plural(count, {
      one: 'Ein nicht gespeicherter Text konnte nicht auf dem Server zwischengespeichert werden. Trotzdem abmelden und ihn verlieren?',
      other: `${String(count)} nicht gespeicherte Texte konnten nicht auf dem Server zwischengespeichert werden. Trotzdem abmelden und sie verlieren?`,
    }),
  live: 'live',
  notLive: 'nicht live',
  liveHelp: 'Änderungen anderer erscheinen sofort.',
  notLiveHelp: 'Kein Ereignisstrom: Änderungen anderer erscheinen innerhalb von 30 Sekunden.',
  manage: 'Verwalten',
  places: {
    api: 'API',
    keys: 'API-Schlüssel',
    search: 'Suche',
    system: 'System',
    types: 'Typen',
    users: 'Benutzer',
    webhooks: 'Webhooks',
    workflows: 'Workflows',
  },
};
