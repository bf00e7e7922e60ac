// Dateien, die hochgeladen werden.
import { plural } from '../format';
import type { Texts } from '..';

export const uploads: Texts['uploads'] = {
  uploads: 'Hochladen',
  uploading: (done, count) => `Wird hochgeladen: ${String(done)} von ${String(count)} fertig`,
  uploaded: (count) =>
    plural(count, { one: '1 Datei hochgeladen.', other: `${String(count)} Dateien hochgeladen.` }),
  refused: (count) =>
    plural(count, { one: '1 Datei wurde abgelehnt.', other: `${String(count)} Dateien wurden abgelehnt.` }),
  pause: 'Pausieren',
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
};
