// Die Mediathek, ihre Auswahl und das Hochladen.
import type { Texts } from '..';
import { plural } from '../format';

export const media: Texts['media'] = {
  library: 'Medien',
  upload: 'Hochladen',
  search: 'Nach Name, Alternativtext oder Titel suchen',
  kind: 'Art der Datei',
  allKinds: 'Alle Dateien',
  images: 'Bilder',
  files: 'Andere Dateien',
  empty:
    'Es gibt noch keine Dateien. Laden Sie eine hoch, ziehen Sie sie hierher, oder fügen Sie ein Bild ein.',
  found: (count) => `${count} gefunden`,
  noAlt: 'ohne Alternativtext',
  alreadyChosen: 'gewählt',
  pickOne: 'Datei wählen',
  pickSeveral: 'Dateien wählen',
  pickHint: 'Die Leertaste wählt aus, die Eingabetaste bestätigt.',
  choose: (count) => (count <= 1 ? 'Wählen' : `${String(count)} wählen`),
  uploads: 'Hochladen',
  uploading: (done, count) => `Wird hochgeladen: ${String(done)} von ${String(count)} fertig`,
  uploaded: (count) =>
    plural(count, { one: '1 Datei hochgeladen.', other: `${String(count)} Dateien hochgeladen.` }),
  refused: (count) =>
    plural(count, { one: '1 Datei wurde abgelehnt.', other: `${String(count)} Dateien wurden abgelehnt.` }),
  pause: 'Anhalten',
  resume: 'Fortsetzen',
  cancelAll: 'Hochladen abbrechen',
  cancelFile: (name) => `${name} abbrechen`,
  retry: 'Erneut senden',
  states: {
    waiting: 'wartet',
    sending: 'wird gesendet',
    done: 'fertig',
    refused: 'abgelehnt',
    cancelled: 'abgebrochen',
  },
  tooLarge: (size, limit) => `${size} sind mehr als die erlaubten ${limit}.`,
  wrongType: (type) => `Dateien der Art ${type} werden nicht angenommen.`,
  emptyFile: 'Die Datei ist leer.',
  chooseFile: 'Wählen …',
  dropHint: 'oder Dateien hierher ziehen oder einfügen',
  alt: 'Alternativtext',
  altMissing: 'Ohne Alternativtext entgeht Menschen, die das Bild nicht sehen, was es zeigt.',
  altSaved: 'Alternativtext gespeichert.',
  altScope: 'Wird mit der Datei gespeichert, für jede Stelle, die sie zeigt.',
  open: (name) => `${name} öffnen`,
  replace: 'Ersetzen …',
  missing: 'Diese Datei gibt es nicht mehr.',
  unknown: 'Diese Datei konnte nicht gelesen werden.',
};
