// The form of an object.
export const object = {
  deletedTitle: 'This object was deleted',
  deletedBy: (who: string, time: string) => `${who} deleted this object ${time}.`,
  missing: 'This object does not exist',
  readonly: (right: string, type: string) =>
    `You can only read this. Missing right: ${right} ${type} objects.`,
  readonlyPublic: 'You can only read this: it is public. Missing right: publish.',
  rights: { c: 'create', u: 'change' },
  isReadonly: 'Read-only',
  save: 'Save',
  saved: (version: number) => `Saved as version ${String(version)}.`,
  changes: (count: number) => (count === 1 ? '1 change' : `${String(count)} changes`),
  noChanges: 'No changes',
  side: 'About this object',
  toSide: 'Actions',
  id: 'Id',
  tabs: 'Parts of this object',
  general: 'General',
  content: 'Content',
  translations: 'Translations',
  versions: 'Versions',
  usedBy: 'Used by',
};
