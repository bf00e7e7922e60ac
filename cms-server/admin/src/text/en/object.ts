// The form of an object.
export const object = {
  missing: 'This object does not exist',
  newTitle: (type: string) => `New: ${type}`,
  save: 'Save',
  saved: (version: number) => `Saved as version ${String(version)}.`,
  changes: (count: number) => (count === 1 ? '1 change' : `${String(count)} changes`),
  noChanges: 'No changes',
  side: 'About this object',
  id: 'Id',
  tabs: 'Parts of this object',
  general: 'General',
  content: 'Content',
  versions: 'Versions',
  usedBy: 'Used by',
};
