// Versionen eines Objekts, ihr Vergleich, und was darauf verweist.
import { number, plural } from '../format';
import type { Texts } from '..';

export const versions: Texts['versions'] = {
  actions: 'Aktionen',
  versions: 'Versionen',
  onlyVersion: 'Es gibt nur eine Version. Nach einer Änderung lassen sich hier beide vergleichen.',
  current: 'aktuell',
  published: 'sehen Besucher',
  from: 'Von',
  to: 'Bis',
  fromVersion: (version) => `Vergleichen von Version ${version}`,
  toVersion: (version) => `Vergleichen bis Version ${version}`,
  compare: 'Vergleichen',
  compareTitle: (title) => `Versionen vergleichen: ${title}`,
  changedProperties: (names) => `Geändert: ${names}`,
  allProperties: 'Erste Version',
  unknownChange: 'Die Änderungen wurden nicht festgehalten.',
  showOlder: 'Ältere Versionen anzeigen',
  showChanges: 'Änderungen anzeigen',
  showChangesOf: (version) => `Änderungen von Version ${version} anzeigen`,
  restoreVersion: 'Wiederherstellen',
  restoreVersionN: (version) => `Version ${version} wiederherstellen`,
  restoreProperty: (label, version) => `${label} von Version ${version} wiederherstellen`,
  swap: 'Seiten tauschen',
  versionLabel: (version, name, when) => `${version}: ${name || '—'}, ${when}`,
  used: 'Verwendet von',
  unused: 'Kein anderes Objekt verweist darauf.',
  usedCount: (count) =>
    plural(count, { one: '1 Objekt verweist darauf', other: `${number(count)} Objekte verweisen darauf` }),
  usedHidden: 'Weitere Objekte verweisen darauf, die Sie nicht lesen dürfen.',
  onlyPublished: 'nur in der veröffentlichten Version',
  onlyCurrent: 'nicht in der veröffentlichten Version',
  moreUses: 'Mehr anzeigen',
};
