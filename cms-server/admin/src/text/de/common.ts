// Wörter, die jeder Bildschirm benutzt.
import type { Texts } from '..';

export const common: Texts['common'] = {
  cancel: 'Abbrechen',
  copy: 'Kopieren',
  copied: 'Kopiert.',
  notCopied: 'Der Browser erlaubt kein Kopieren. Markieren und kopieren Sie den Text.',
  show: 'Anzeigen',
  hide: 'Verbergen',
  close: 'Schließen',
  delete: 'Löschen',
  remove: (what) => `Entfernen: ${what}`,
  loading: 'Wird geladen …',
  nothingFound: 'Nichts gefunden.',
  retry: 'Erneut versuchen',
  partFailed:
    'Ein Teil dieser Seite konnte nicht geladen werden. Nach einer Aktualisierung des Servers muss die Seite neu geladen werden.',
  reload: 'Neu laden',
  failed: 'Das konnte nicht geladen werden.',
  offline: 'Der Server ist nicht erreichbar.',
  requestId: (id) => `Anfrage ${id}`,
  notAllowed: 'Sie dürfen das nicht sehen.',
  missingRight: (right) => `Fehlendes Recht: ${right}`,
  notFound: 'Diese Seite gibt es nicht.',
  notFoundHelp: 'Die Adresse kann einen Tippfehler haben, oder das Genannte wurde gelöscht.',
  hasErrors: 'enthält Fehler',
  required: 'Pflichtfeld',
  yes: 'Ja',
  no: 'Nein',
  none: '—',
  status: {
    draft: 'Entwurf',
    public: 'Öffentlich',
    modified: 'Geändert',
    archived: 'Archiviert',
    scheduled: 'Geplant',
  },
};
