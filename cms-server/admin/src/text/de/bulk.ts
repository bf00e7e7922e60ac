// Aktionen an mehreren Objekten.
import type { Texts } from '..';
import { plural } from '../format';

const objects = (count: number, text: string) => plural(count, { one: '1 Objekt', other: `${text} Objekte` });

export const bulk: Texts['bulk'] = {
  region: 'Aktionen für ausgewählte Zeilen',
  more: 'Mehr',
  actions: {
    publish: 'Veröffentlichen',
    unpublish: 'Zurückziehen',
    archive: 'Archivieren',
    delete: 'Löschen',
    patch: 'Eigenschaft ändern …',
    transition: 'In einen Zustand bringen …',
  },
  titles: {
    publish: 'Objekte veröffentlichen',
    unpublish: 'Objekte zurückziehen',
    archive: 'Objekte archivieren',
    delete: 'Objekte löschen',
    patch: 'Eigenschaft von Objekten ändern',
    transition: 'Objekte in einen anderen Zustand bringen',
  },
  run: {
    publish: (count, text) => `${objects(count, text)} veröffentlichen`,
    unpublish: (count, text) => `${objects(count, text)} zurückziehen`,
    archive: (count, text) => `${objects(count, text)} archivieren`,
    delete: (count, text) => `${objects(count, text)} löschen`,
    patch: (count, text) => `${objects(count, text)} ändern`,
    transition: (count, text) => `${objects(count, text)} bewegen`,
  },
  done: {
    publish: (count, text) => `${objects(count, text)} veröffentlicht.`,
    unpublish: (count, text) => `${objects(count, text)} zurückgezogen.`,
    archive: (count, text) => `${objects(count, text)} archiviert.`,
    delete: (count, text) => `${objects(count, text)} gelöscht.`,
    patch: (count, text) => `${objects(count, text)} geändert.`,
    transition: (count, text) => `${objects(count, text)} bewegt.`,
  },
  consequences: {
    publish: 'Besucher sehen die aktuelle Version.',
    unpublish: 'Besucher sehen sie nicht mehr; sie werden Entwürfe.',
    archive: 'Besucher sehen sie nicht mehr.',
    delete:
      'Sie kommen in den Papierkorb und können wiederhergestellt werden. Objekte, auf die andere verweisen, werden abgelehnt.',
    patch: 'Jedes bekommt eine neue Version; frühere Versionen bleiben.',
    transition: 'Objekte, die nicht im Ausgangszustand des Übergangs sind, werden abgelehnt.',
  },
  canUndo: 'Das kann danach rückgängig gemacht werden.',
  cannotUndo: {
    publish:
      'Das kann nicht rückgängig gemacht werden: Was Besucher jetzt sehen, steht danach nur noch in den Versionen der Objekte.',
    unpublish: 'Das kann nicht rückgängig gemacht werden: Jedes Objekt muss neu veröffentlicht werden.',
    archive: 'Das kann nicht rückgängig gemacht werden: Jedes Objekt muss neu veröffentlicht werden.',
    delete:
      'Das kann nicht in einem Schritt rückgängig gemacht werden: Die Objekte sind 60 Tage im Papierkorb.',
    patch:
      'Das kann nicht in einem Schritt rückgängig gemacht werden: Der frühere Wert steht in den Versionen der Objekte.',
    transition: 'Das kann nicht rückgängig gemacht werden: Der Workflow bestimmt, welcher Weg zurückführt.',
  },
  same: (count, text) =>
    plural(count, {
      one: '1 Objekt hat diesen Wert schon und bleibt, wie es ist.',
      other: `${text} Objekte haben diesen Wert schon und bleiben, wie sie sind.`,
    }),
  sameStay: 'Objekte, die diesen Wert schon haben, bleiben, wie sie sind.',
  sameToo: 'Auch Objekte, die diesen Wert schon haben, bekommen eine neue Version.',
  matched: (count, text) => `${objects(count, text)}.`,
  sample: 'Auszug',
  unchanged: 'keine Änderung',
  schedulesEnd:
    'Geplante Veröffentlichungen dieser Objekte werden aufgehoben, und „Rückgängig“ stellt sie nicht wieder her.',
  before: 'Vorher',
  after: 'Nachher',
  andMore: (count) => `… und ${count} weitere`,
  differs: (shown) =>
    `Die Liste zeigt ${shown}. Entweder haben sich Objekte inzwischen geändert, oder Filter der Liste treffen einzelne Wörter: Diese Aktion vergleicht ganze Werte. Bitte die Liste neu laden, die Wörter oder die Filter entfernen, oder Zeilen auswählen.`,
  typeNumber: (count) => `Zur Bestätigung die Zahl ${count} eingeben`,
  chooseProperty: 'Eigenschaft wählen',
  transition: 'Übergang',
  progress: (done, total) => `${done} von ${total} …`,
  result: (succeeded, refused) => `${succeeded} geändert, ${refused} abgelehnt.`,
  leave:
    'Die Aktion läuft noch. Wenn Sie die Seite jetzt verlassen, wird sie gestoppt; was getan ist, bleibt. Trotzdem verlassen?',
  wasStopped: 'Gestoppt. Was getan ist, bleibt.',
  outcomeUnknown:
    'Welche weiteren Objekte geändert wurden, ist unbekannt: Die Antwort des Servers ging verloren, und das Ergebnis konnte nicht gelesen werden.',
  refused: 'Abgelehnt',
  moreRefused: (count) => `${count} weitere wurden abgelehnt.`,
  refusedSelected: 'Die abgelehnten Objekte sind in der Liste ausgewählt.',
  undo: 'Rückgängig',
  undone: 'Rückgängig gemacht.',
  undoneOf: (count, text) => `Rückgängig gemacht für ${objects(count, text)}.`,
  undoLeft: (count, text) =>
    plural(count, {
      one: '1 Objekt wurde inzwischen geändert und bleibt, wie es ist.',
      other: `${text} Objekte wurden inzwischen geändert und bleiben, wie sie sind.`,
    }),
  undoModified: (count, text) =>
    plural(count, {
      one: '1 Objekt bleibt „Geändert“: Besucher sehen die veröffentlichte Version.',
      other: `${text} Objekte bleiben „Geändert“: Besucher sehen die veröffentlichten Versionen.`,
    }),
  undoGone: (count, text) =>
    plural(count, {
      one: '1 Objekt ist nicht mehr im Papierkorb.',
      other: `${text} Objekte sind nicht mehr im Papierkorb.`,
    }),
  undoInTrash: (count, text) =>
    plural(count, { one: '1 Objekt bleibt im Papierkorb:', other: `${text} Objekte bleiben im Papierkorb:` }),
  undoReason: (title, reason) => `„${title}“ (${reason})`,
  undoLinks: (title) => `„${title}“ wurde ohne einige seiner Links wiederhergestellt.`,
  undoUnknown: 'Ob es auch für weitere rückgängig gemacht wurde, ist unbekannt: Es kam keine Antwort.',
  needs: (right) => `Fehlendes Recht: ${right}`,
  rights: { update: 'Ändern', publish: 'Veröffentlichen', delete: 'Löschen' },
};
