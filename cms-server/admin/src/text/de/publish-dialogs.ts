// Dialoge vor dem Veröffentlichen, Zurückziehen, Planen und Löschen.
import { number, plural } from '../format';
import type { Texts } from '..';

export const publishDialog: Texts['publishDialog'] = {
  publishNow: 'Veröffentlichen',
  saveAndPublish: 'Speichern und veröffentlichen',
  withdraw: {
    unpublish: (title) => `„${title}“ zurückziehen?`,
    archive: (title) => `„${title}“ archivieren?`,
  },
  withdrawNote: {
    unpublish:
      'Besucher sehen es nicht mehr, es wird ein Entwurf. Rückgängig machen Sie das durch Veröffentlichen: Besucher sehen dann den jetzigen Stand.',
    archive:
      'Besucher sehen es nicht mehr. Rückgängig machen Sie das durch Veröffentlichen: Besucher sehen dann den jetzigen Stand.',
  },
  scheduleEnds: (when) =>
    `Die geplante Veröffentlichung (${when}) wird aufgehoben, und „Rückgängig“ stellt sie nicht wieder her.`,
  publishLater: 'Später veröffentlichen …',
  done: {
    publish: 'Veröffentlicht.',
    unpublish: 'Zurückgezogen. Besucher sehen es nicht mehr.',
    archive: 'Archiviert. Besucher sehen es nicht mehr.',
  },
  isScheduled: 'Die Veröffentlichung ist geplant.',
  publishTitle: (title) => `${title} veröffentlichen?`,
  firstTime: 'Besucher sehen es zum ersten Mal.',
  visibleAgain: 'Besucher sehen es wieder.',
  changesForVisitors: 'Was sich für Besucher ändert',
  nothingChanges: 'Der Text ist der, den Besucher schon haben.',
  linkedUnread: (count) =>
    plural(count, {
      one: 'Von 1 verknüpften Objekt ist nicht bekannt, ob es öffentlich ist: Es konnte nicht gelesen werden.',
      other: `Von ${String(count)} verknüpften Objekten ist nicht bekannt, ob sie öffentlich sind: Sie konnten nicht gelesen werden.`,
    }),
  linkedTitle: (count) =>
    plural(count, {
      one: '1 verknüpftes Objekt ist in seinem jetzigen Stand nicht öffentlich:',
      other: `${String(count)} verknüpfte Objekte sind in ihrem jetzigen Stand nicht öffentlich:`,
    }),
  linkedMore: (count) => plural(count, { one: 'und 1 weiteres.', other: `und ${number(count)} weitere.` }),
  linkedPartly: (checked, all) =>
    `Nur die ersten ${checked} von ${all} verknüpften Objekten wurden geprüft: Auch andere sind vielleicht nicht öffentlich.`,
  linkedNote:
    'Besucher sehen Entwürfe und archivierte Objekte nicht, und von geänderten die veröffentlichte Version.',
  publishLinked: 'Diese auch veröffentlichen',
  scheduleCancelled: 'Der Zeitplan wird aufgehoben, weil es jetzt veröffentlicht wird.',
  scheduleTitle: 'Später veröffentlichen',
  date: 'Datum und Uhrzeit',
  zone: 'Zeitzone',
  zoneHelp: 'Ein Name wie Europe/Berlin',
  scheduleWords: (local, zone, utc, relative) => `${local} in ${zone}, ${utc} UTC, ${relative}.`,
  tooSoon: 'Wählen Sie eine Zeit, die mehr als 5 Minuten in der Zukunft liegt.',
  skipped: 'Diese Uhrzeit gibt es an diesem Tag wegen der Zeitumstellung nicht. Wählen Sie eine andere.',
  unknownZone: 'Diese Zeitzone gibt es nicht.',
  scheduleSubmit: 'Planen',
  deleteTitle: (title) => `${title} löschen?`,
  deleteNote: (days) => `Es kann ${days} Tage lang aus dem Papierkorb wiederhergestellt werden.`,
  deleteSeen: 'Besucher sehen es jetzt; sie finden es dann nicht mehr.',
  blocked: (count) => `${count} Objekte verweisen darauf. Entfernen Sie zuerst diese Links:`,
  blockedOne: '1 Objekt verweist darauf. Entfernen Sie zuerst diesen Link:',
  blockedHidden:
    'Objekte, die Sie nicht lesen dürfen, verweisen darauf; deshalb kann es nicht gelöscht werden.',
  checking: 'Suche nach Objekten, die darauf verweisen …',
  deleted: (title) => `${title} ist gelöscht.`,
  restored: 'Es ist wiederhergestellt.',
};
