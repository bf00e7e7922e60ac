// Geplante Veröffentlichungen.
import type { Texts } from '..';

export const schedule: Texts['schedule'] = {
  title: 'Zeitplan',
  nothing: 'Nichts ist geplant. Öffnen Sie ein Objekt und wählen Sie neben „Veröffentlichen“ eine Zeit.',
  nothingOf: 'Von diesem Typ ist nichts geplant.',
  right: 'einen Inhaltstyp lesen, der veröffentlicht werden kann',
  move: 'Zeit ändern …',
  moveOf: (title) => `Zeit von „${title}“ ändern`,
  moveTitle: (title) => `„${title}“ später veröffentlichen`,
  cancel: 'Zeitplan aufheben',
  cancelOf: (title) => `Zeitplan von „${title}“ aufheben`,
  isMoved: (title) => `„${title}“ hat eine andere Zeit.`,
  isCancelled: (title) => `„${title}“ ist nicht mehr geplant.`,
  changedMeanwhile:
    'Dieses Objekt oder sein Zeitplan wurde inzwischen geändert. Sehen Sie die Liste noch einmal an.',
  undo: 'Rückgängig',
  undone: 'Rückgängig gemacht.',
  by: (name) => `von ${name}`,
  inZone: (zone) => `festgelegt für ${zone}`,
};
