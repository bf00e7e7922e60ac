// The form of an object.
export const object = {
  missing: 'This object does not exist',
  newTitle: (type: string) => `New: ${type}`,
  save: 'Save',
  saved: (version: number) => `Saved as version ${String(version)}.`,
  changes: (count: number) => (count === 1 ? '1 change' : `${String(count)} changes`),
  noChanges: 'No changes',
  errors: 'Please correct:',
  side: 'About this object',
  id: 'Id',
  version: 'Version',
  edited: 'Edited',
  tabs: 'Parts of this object',
  content: 'Content',
  versions: 'Versions',
  usedBy: 'Used by',
};
