// Status, Veröffentlichen, Zeitplan, Workflow, Löschen und Versionen eines Objekts.
import type { Texts } from '..';

export const publishing: Texts['publishing'] = {
  status: 'Status',
  mergedFirst: (who, names) =>
    `Inzwischen geändert von ${who}: ${names.join(', ')}. Beide Änderungen sind als Entwurf gespeichert; Besucher sehen sie noch nicht. Prüfen Sie die Änderungen, und wiederholen Sie dann den Schritt.`,
  changedMeanwhile:
    'Jemand hat das Objekt inzwischen geändert. Sehen Sie sich die Änderung an, und versuchen Sie es dann erneut.',
  readers: {
    draft: 'Besucher sehen es nicht.',
    public: 'Besucher sehen diese Version.',
    archived: 'Besucher sehen es nicht.',
    immediate: 'Jedes Speichern ist für Besucher sofort sichtbar.',
  },
  publishedVersion: (version, when) => `Besucher sehen Version ${version}, veröffentlicht ${when}.`,
  unsavedNotSeen: 'Ihre nicht gespeicherten Änderungen gehören nicht dazu.',
  state: 'Zustand',
  version: 'Version',
  versionBy: (version, name, when) =>
    name === '' ? `${version}, ${when}` : `${version}, von ${name}, ${when}`,
  created: 'Angelegt',
  id: 'Id',
  schedule: 'Zeitplan',
  scheduled: (when) => `Wird veröffentlicht: ${when}`,
  publish: 'Veröffentlichen …',
  unpublish: 'Zurückziehen',
  archive: 'Archivieren',
  scheduleAction: 'Planen …',
  cancelSchedule: 'Zeitplan aufheben',
  duplicate: 'Duplizieren',
  preview: 'Vorschau',
  delete: 'Löschen …',
  more: 'Weitere Aktionen',
  isUnscheduled: 'Der Zeitplan ist aufgehoben.',
  moved: (state) => `Der Zustand ist jetzt ${state}.`,
  moveTo: (state) => `Nach ${state}`,
  moveTitle: (title, state) => `„${title}“ nach ${state}?`,
  noWayBack: (from, to) =>
    `Das kann nicht rückgängig gemacht werden: Kein Übergang, den Sie ausführen dürfen, führt von ${to} zurück nach ${from}.`,
  reason: {
    noRight: 'Sie dürfen nicht veröffentlichen',
    archiveDraft: 'Ein Entwurf kann nicht archiviert werden: erst veröffentlichen, oder löschen',
    unpublishArchived: 'Es ist archiviert, Besucher sehen es nicht',
    unpublishDraft: 'Es ist ein Entwurf: Besucher sehen es nicht',
    already: 'Es hat diesen Status schon',
    nothingToSchedule: 'Das Objekt ist veröffentlicht und hat keine Änderungen, die sich planen lassen',
    scheduleArchived: 'Archivierte Objekte können nicht geplant werden',
    noDelete: 'Sie dürfen nicht löschen',
    deletePublic: 'Besucher sehen es: ohne das Recht zu veröffentlichen kann es nicht gelöscht werden',
    noCreate: 'Sie dürfen nichts anlegen',
  },
  transitionNeedsRight: (state) => `Der Schritt nach ${state} erfordert das Recht zu veröffentlichen.`,
  scheduleWarning: (when) =>
    `Die Veröffentlichung ist geplant: ${when}. Das Speichern einer Änderung hebt diesen Zeitplan auf.`,
  uploading:
    'Dateien werden noch hochgeladen. Sie können speichern und veröffentlichen, wenn das Hochladen fertig oder abgebrochen ist.',
  incompleteDate:
    'Ein Datum ist unvollständig. Vervollständigen oder leeren Sie es, dann wiederholen Sie diesen Schritt.',
  undo: 'Rückgängig',
  duplicated: 'Das ist die Kopie.',
  request: 'Anfrage',
  requestHelp: 'Dasselbe Objekt für Programme. KEY ist ein API-Schlüssel.',
  openTab: 'In neuem Tab öffnen',
  noPreview: 'Dieser Typ hat keine Vorschau-URL.',
  inForm: (version) => `Werte von Version ${version} stehen im Formular. Es ist noch nichts gespeichert.`,
};
