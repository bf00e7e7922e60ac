// Gelöschte Objekte.
import type { Texts } from '..';
import { plural } from '../format';

export const trash: Texts['trash'] = {
  title: 'Papierkorb',
  about: (days) => `Gelöschte Objekte bleiben hier ${String(days)} Tage, dann werden sie entfernt.`,
  count: (count, text) => plural(count, { one: '1 Objekt', other: `${text} Objekte` }),
  nothing: 'Der Papierkorb ist leer.',
  search: 'Titel oder Id …',
  by: 'Gelöscht von',
  byAnyone: 'Von allen',
  byMe: 'Von mir',
  deleted: (when, who) => `gelöscht ${when} von ${who}`,
  expires: (when) => `wird ${when} entfernt`,
  idTaken: 'Die Id ist wieder vergeben.',
  view: 'Ansehen',
  open: 'Öffnen',
  restore: 'Wiederherstellen',
  restoreAs: 'Unter anderer Id wiederherstellen …',
  restoreTitle: (title) => `„${title}“ wiederherstellen`,
  restored: 'Wiederhergestellt.',
  id: 'Id',
  idHelp: 'Verweise auf das Objekt nennen diese Id.',
  idCharacters:
    'Die Id enthält ein Zeichen, das nicht erlaubt ist. Verwenden Sie Buchstaben von a bis z, Ziffern, „-“, „_“ und „.“.',
  gone: 'Es ist nicht mehr im Papierkorb: Jemand anders hat es wiederhergestellt oder entfernt.',
  remove: 'Endgültig entfernen',
  removeSure: (title) =>
    `„${title}“ wird mit allen Versionen entfernt. Das kann nicht rückgängig gemacht werden.`,
  empty: 'Papierkorb leeren …',
  emptySure: (scope) =>
    `Alle gelöschten Objekte werden endgültig entfernt: ${scope}. Das kann nicht rückgängig gemacht werden.`,
  emptied: (count, text) => plural(count, { one: '1 Objekt entfernt.', other: `${text} Objekte entfernt.` }),
  actionsFor: (title) => `Weitere Aktionen: ${title}`,
  rights: { create: 'Anlegen', delete: 'Löschen' },
};
