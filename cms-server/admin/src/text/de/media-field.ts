// Das Feld für Bilder.
import type { Texts } from '..';

export const mediaField: Texts['mediaField'] = {
  upload: 'Hochladen',
  chooseFile: 'Wählen …',
  dropHint: 'oder Dateien hierher ziehen oder einfügen',
  alt: 'Alternativtext',
  altMissing: 'Ohne Alternativtext entgeht Menschen, die das Bild nicht sehen, was es zeigt.',
  altChanged: (alt: string) =>
    `Noch nicht gespeichert: Jemand hat ihn zu „${alt}“ geändert. Bearbeiten Sie ihn erneut, um das zu ersetzen.`,
  altNotSaved: (name, reason) => `Der Alternativtext von ${name} ist nicht gespeichert. ${reason}`,
  altOther: (alt) => `Jemand hat ihn zu „${alt}“ geändert.`,
  altReplace: 'Trotzdem ersetzen',
  altSaved: 'Alternativtext gespeichert.',
  altScope: 'Wird mit der Datei gespeichert, für jede Stelle, die sie zeigt.',
  replace: 'Ersetzen …',
  missing: 'Diese Datei gibt es nicht mehr.',
  unknown: 'Diese Datei konnte nicht gelesen werden.',
};
