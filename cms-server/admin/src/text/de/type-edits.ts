// Änderungen an Inhaltstypen: was andere geändert haben, Optionen in Objekten, Arten von Eigenschaften.
import type { Texts } from '..';
import { plural } from '../format';

export const typeEdits: Texts['typeEdits'] = {
  theirChanges: 'Was andere geändert haben',
  deletedMeanwhile:
    'Jemand hat diesen Typ mit seinen Objekten gelöscht. Wenn Sie Ihre Änderungen anwenden, wird er neu angelegt, ohne Objekte.',
  propertyOrder: 'Reihenfolge der Eigenschaften',
  youChanged: 'Sie haben sie geändert: Sie wird eine neue Eigenschaft.',
  youRemoved: 'Sie entfernen sie.',
  yoursStays: 'Das haben auch Sie geändert: Ihre Änderung bleibt.',

  lostOption: (value) => `„${value}“ ist keine Option mehr.`,
  lostOptionObjects: (count, text) =>
    plural(count, { one: '1 Objekt hat diesen Wert', other: `${text} Objekte haben diesen Wert` }),
  lostOptionNone: 'Kein Objekt hat diesen Wert.',
  lostOptionHelp: 'Ein solches Objekt lässt sich erst speichern, wenn eine andere Option gewählt ist.',
  lostOptionTo: (value) => `Objekte mit „${value}“`,
  leaveOption: 'Lassen, wie sie sind',
  changeOption: (label) => `Ändern in: ${label}`,
  changeOptionHelp: 'Nach dem Anwenden bekommt jedes davon eine neue Version.',
  changingOptions: (done, total) => `Werte werden geändert: ${done} von ${total} Objekten`,
  optionsChanged: (count, text) =>
    plural(count, {
      one: '1 Objekt hat seinen neuen Wert.',
      other: `${text} Objekte haben ihren neuen Wert.`,
    }),
  optionsRefused: (count, text, label) =>
    plural(count, {
      one: `1 Objekt behält den alten Wert von ${label}: Öffnen Sie es in der Liste, und speichern Sie es.`,
      other: `${text} Objekte behalten den alten Wert von ${label}: Öffnen Sie sie in der Liste, und speichern Sie sie.`,
    }),

  maxLength: 'Höchstens so viele Zeichen',
  lengthsCrossed: 'Die Mindestlänge ist größer als die Höchstlänge.',
  applyDefaults: 'Der Server setzt Vorgaben ein',
  applyDefaultsHelp:
    'Legt ein Programm ein Objekt ohne eine Eigenschaft an, setzt der Server deren „Wert in neuen Objekten“ ein.',
  uniqueTogether: 'Eindeutige Kombinationen',
  uniqueTogetherHelp:
    'Keine zwei Objekte haben dieselben Werte all dieser Eigenschaften, etwa Slug und Sprache.',
  combination: (place) => `Kombination ${String(place)}`,
  addCombination: 'Kombination hinzufügen',

  chooseKind: 'Art der Eigenschaft',
  searchKind: 'Arten suchen, etwa „Datum“ oder „Link“',
  kindAbout: {
    text: 'Eine Zeile: Titel, Name, Slug',
    textarea: 'Mehrere Zeilen ohne Formatierung',
    richtext: 'Überschriften, Listen, Tabellen, Bilder; als HTML gespeichert',
    textMarkdown: 'Formatierung durch Zeichen wie * und #, mit Vorschau',
    block: 'Eine Seite aus Blöcken; als JSON gespeichert',
    number: 'Mit Nachkommastellen, etwa ein Preis',
    integer: 'Eine Anzahl, ein Jahr',
    checkbox: 'An oder aus',
    dateTime: 'Ein Tag, mit oder ohne Uhrzeit',
    email: 'Die Form wird geprüft',
    select: 'Eine von mehreren Optionen, in einer Liste',
    selectMany: 'Beliebige von mehreren Optionen',
    radio: 'Eine von wenigen Optionen, alle sichtbar',
    media: 'Bilder und Dateien der Bibliothek',
    datasource: 'Links auf andere Objekte',
    object: 'Tabelle oder Karten, jeder Eintrag mit Eigenschaften',
    simpleList: 'Ein Text pro Zeile, etwa Schlagwörter',
    geo: 'Breite und Länge',
    custom: 'Ein beliebiges Objekt, mit oder ohne Eigenschaften',
  },
  kindWords: {
    text: 'string zeichenkette slug url farbe',
    textarea: 'string mehrzeilig',
    richtext: 'html wysiwyg editor',
    textMarkdown: 'md',
    block: 'editor.js json inhalt',
    number: 'float dezimal preis',
    integer: 'int',
    checkbox: 'boolean schalter true false',
    dateTime: 'kalender',
    email: 'mail',
    select: 'enum dropdown',
    selectMany: 'enum mehrfach schlagwörter',
    radio: 'enum',
    media: 'bild foto video upload',
    datasource: 'referenz verweis fremdschlüssel link',
    object: 'gruppe array komponente',
    simpleList: 'array strings',
    geo: 'karte koordinaten standort',
    custom: 'objekt raw',
  },
};
