// Der erste Bildschirm.
import type { Texts } from '..';

export const home: Texts['home'] = {
  title: 'Start',
  types: 'Inhaltstypen',
  unsaved: 'Meine ungespeicherte Arbeit',
  allUnsaved: (count) => `Alle ${count}`,
  unsavedNew: 'neu',
  savedAt: (when) => `zwischengespeichert ${when}`,
  outdated: 'Das Objekt wurde seitdem geändert.',
  waiting: 'Wartet auf Sie',
  scheduled: 'Geplant',
  changes: 'Letzte Änderungen',
  allChanges: 'Alle Aktivität',
  allScheduled: 'Ganzer Zeitplan',
  nothingYet: 'Es wurde noch nichts geändert.',
  start: {
    title: 'Dieser Server hat noch keine Inhalte',
    text: 'Drei Schritte für den Anfang. Auf der Kommandozeile geht dasselbe.',
    type: 'Einen Inhaltstyp anlegen',
    typeText: 'Ein Typ sagt, welche Eigenschaften seine Objekte haben: Ein Beitrag hat Titel und Text.',
    import: 'Inhalte importieren',
    importText: 'Die Beispielseite, oder Typen und Inhalte eines anderen Servers.',
    invite: 'Jemanden einladen',
    inviteText: 'Sie bekommen einen Link zum Weitergeben; er gilt 72 Stunden.',
  },
};
