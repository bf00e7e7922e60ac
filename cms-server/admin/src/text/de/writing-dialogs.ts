// Dialoge und Hinweise beim Schreiben, die selten gebraucht werden.
import { plural } from '../format';
import type { Texts } from '..';

export const writingDialog: Texts['writingDialog'] = {
  largerThan: (size, limit) =>
    `Nicht gespeichert: Das Objekt hat ${size}, der Server speichert höchstens ${limit}.`,
  refusedSize: (size) =>
    `Das Objekt hat ${size}. Vielleicht erlaubt ein Proxy vor dem Server weniger als der Server.`,
  largest: (label, size) => `Der größte Teil ist ${label} mit ${size}.`,
  showPart: (label) => `${label} zeigen`,
  tooLarge: 'Kürzen Sie den Text und speichern Sie erneut. Er bleibt zwischengespeichert.',
  discardTitle: 'Ihre Änderungen verwerfen?',
  discardHelp:
    'Das Formular zeigt dann wieder das gespeicherte Objekt. Das lässt sich nicht rückgängig machen.',
  discardStale:
    'Die ungespeicherten Änderungen des früheren Stands werden entfernt; das Formular bleibt, wie es ist. Das lässt sich nicht rückgängig machen.',
  discardNew: 'Das Formular ist dann wieder leer. Das lässt sich nicht rückgängig machen.',
  discardNow: 'Änderungen verwerfen',
  errorsTitle: (count) =>
    plural(count, { one: '1 Validierungsfehler', other: `${String(count)} Validierungsfehler` }),
  allErrors: (count) => `Alle ${String(count)} anzeigen`,
  myChanges: 'Ihre Änderungen',
  changesOf: (who) => `Änderungen von ${who}`,
  typeChanges: 'Änderungen durch den Inhaltstyp',
  resolveConflicts: 'Beide haben dieselbe Eigenschaft geändert',
  resolveConverted: 'Der Inhaltstyp hat sich geändert',
  resolveUnsavedWork: 'Vergleichen und zusammenführen',
  resolveHelp: (who, version) =>
    `Während Sie geschrieben haben, wurde Version ${String(version)} von ${who} gespeichert.`,
  before: 'Vorher',
  theirs: (who) => `Von ${who}`,
  mine: 'Sie',
  useTheirs: (who) => `Text von ${who} nehmen`,
  convertedValue: 'Umgewandelt',
  useConverted: 'Umgewandelten Wert nehmen',
  useMine: 'Meinen nehmen',
  edit: 'Bearbeiten',
  empty: 'leer',
  back: 'Zurück zum Schreiben',
  saveChoices: 'So speichern',
  takeChoices: 'So ins Formular übernehmen',
  copyMine: 'Alles von mir kopieren',
};
