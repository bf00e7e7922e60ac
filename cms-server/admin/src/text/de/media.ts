// Die Mediathek, ihre Auswahl und das Hochladen.
import type { Texts } from '..';

export const media: Texts['media'] = {
  right: 'Dateien lesen',
  library: 'Medien',
  search: 'Nach Name, Alternativtext oder Titel suchen',
  kind: 'Art der Datei',
  allKinds: 'Alle Dateien',
  images: 'Bilder',
  files: 'Andere Dateien',
  empty:
    'Es gibt noch keine Dateien. Laden Sie eine hoch, ziehen Sie sie hierher, oder fügen Sie ein Bild ein.',
  found: (count) => `${count} gefunden`,
  noAlt: 'ohne Alternativtext',
  alreadyChosen: 'gewählt',
  pickOne: 'Datei wählen',
  pickSeveral: 'Dateien wählen',
  byAddress: 'Mit Adresse…',
  pickHint: 'Die Leertaste wählt aus, die Eingabetaste bestätigt.',
  choose: (count) => (count <= 1 ? 'Wählen' : `${String(count)} wählen`),
  tag: 'Schlagwort',
  withoutAlt: 'Ohne Alternativtext',
  unused: 'Unbenutzt',
  checkingUses: 'Verwendungen werden gesucht …',
  unusedOnPage: (unused, files) =>
    `${String(unused)} der ${String(files)} Dateien auf dieser Seite sind unbenutzt.`,
  unusedNote:
    'Nur die Dateien dieser Seite werden geprüft: Verweise auf sie und ihre Adressen in Objekten, die Sie lesen dürfen. Adressen in früheren Versionen, in veröffentlichten Versionen, die seither geändert wurden, und auf anderen Websites werden nicht bemerkt.',
  unusedUnknown: (count) =>
    count === 1
      ? '1 Datei konnte nicht geprüft werden.'
      : `${String(count)} Dateien konnten nicht geprüft werden.`,
  clearFilters: 'Filter entfernen',
  noMatch: 'Keine Datei passt zu diesen Filtern.',
  view: 'Ansicht',
  grid: 'Raster',
  list: 'Liste',
  leaveUploads:
    'Dateien werden noch hochgeladen. Wenn Sie die Seite jetzt verlassen, sehen Sie nicht, welche davon abgelehnt werden. Trotzdem verlassen?',
  dropHere: 'Loslassen, um die Dateien hochzuladen',
  dimensions: 'Größe in Pixeln',
  fileSize: 'Dateigröße',
  mediaType: 'Medientyp',
  uploadedAt: 'Hochgeladen',
  addresses: 'Adressen',
  width: 'Breite',
  height: 'Höhe',
  format: 'Format',
  stored: 'wie gespeichert',
  automatic: 'automatisch (AVIF oder WebP)',
  crop: 'Ausschnitt',
  wholeImage: 'ganzes Bild',
  copy: 'Adresse kopieren',
  left: 'Links',
  top: 'Oben',
  moveCrop: 'Ausschnitt: Pfeiltasten verschieben ihn, mit der Umschalttaste ändern sie seine Größe',
  moveFocus: 'Fokuspunkt: Pfeiltasten verschieben ihn',
  focusX: 'Von links, in Prozent',
  focusY: 'Von oben, in Prozent',
  removeCrop: 'Ausschnitt entfernen',
  centre: 'Zurück zur Mitte',
};
