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
    publish: 'Leser sehen die aktuelle Version. Zurücknehmen: Zurückziehen.',
    unpublish: 'Leser sehen sie nicht mehr; sie werden Entwürfe. Zurücknehmen: Veröffentlichen.',
    archive: 'Leser sehen sie nicht mehr. Zurücknehmen: Veröffentlichen.',
    delete:
      'Sie kommen in den Papierkorb und können wiederhergestellt werden. Objekte, auf die andere verweisen, werden abgelehnt.',
    patch: 'Jedes bekommt eine neue Version; frühere Versionen bleiben.',
    transition: 'Objekte, die nicht im Ausgangszustand des Übergangs sind, werden abgelehnt.',
  },
  matched: (count, text) => `${objects(count, text)}.`,
  sample: 'Auszug',
  unchanged: 'keine Änderung',
  schedulesEnd: 'Geplante Veröffentlichungen dieser Objekte werden aufgehoben.',
  before: 'Vorher',
  after: 'Nachher',
  andMore: (count) => `… und ${count} weitere`,
  typeNumber: (count) => `Zur Bestätigung die Zahl ${count} eingeben`,
  chooseProperty: 'Eigenschaft wählen',
  transition: 'Übergang',
  progress: (done, total) => `${done} von ${total} …`,
  result: (succeeded, refused) => `${succeeded} geändert, ${refused} abgelehnt.`,
  wasStopped: 'Angehalten. Was getan ist, bleibt.',
  refused: 'Abgelehnt',
  moreRefused: (count) => `${count} weitere wurden abgelehnt.`,
  refusedSelected: 'Die abgelehnten Objekte sind in der Liste ausgewählt.',
  undo: 'Rückgängig',
  undone: 'Rückgängig gemacht.',
  needs: (right) => `Fehlendes Recht: ${right}`,
  rights: { update: 'Ändern', publish: 'Veröffentlichen', delete: 'Löschen' },
};
