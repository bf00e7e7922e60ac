// Geplante Veröffentlichungen.
import type { Texts } from '..';

export const schedule: Texts['schedule'] = {
  title: 'Zeitplan',
  nothing: 'Nichts ist geplant. Öffnen Sie ein Objekt und wählen Sie neben „Veröffentlichen“ eine Zeit.',
  nothingOf: 'Von diesem Typ ist nichts geplant.',
  by: (name) => `von ${name}`,
  inZone: (zone) => `festgelegt für ${zone}`,
};
