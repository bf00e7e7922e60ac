// Unterschiede zweier Versionen.
import { plural } from '../format';
import type { Texts } from '..';

export const diff: Texts['diff'] = {
  none: 'Keine Unterschiede',
  before: 'vorher',
  after: 'nachher',
  added: 'hinzugefügt',
  removed: 'entfernt',
  changed: 'geändert',
  moved: 'verschoben',
  same: 'unverändert',
  unchanged: (count) =>
    plural(count, { one: '1 unveränderter Teil', other: `${String(count)} unveränderte Teile` }),
  onlyMarkup: 'Formatierung, Links oder Einstellungen wurden geändert; die Wörter sind gleich.',
  whole: 'Ganzen Text anzeigen',
  less: 'Nur die Änderungen anzeigen',
};
