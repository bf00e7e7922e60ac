// Writing: unsaved work, changes of others, saving.
import { plural } from '../format';

const properties = (names: string[]) =>
  names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${String(names.length - 2)} others`;

export const writing = {
  // Saving
  saveDraft: 'Save draft',
  saveVisible: 'Save, visible immediately',
  saving: 'Saving…',
  stored: (time: string) => `stored ${time}`,
  storing: 'storing…',
  notStored: 'not stored: keep this page open',
  deviceFailed:
    'This browser does not store your text (its storage is full or switched off). It is stored on the server only.',
  storeFailed:
    'Your text could be stored neither in this browser nor on the server. Do not close this page before it is saved.',
  notSaved: 'Not saved yet.',
  noTag:
    'Not saved: the response of the server came without its ETag, so changes of others could be overwritten. A proxy may have removed it.',
  retryIn: (seconds: number) =>
    `Next attempt in ${plural(seconds, { one: '1 second', other: `${String(seconds)} seconds` })}.`,
  retryNow: 'Try now',
  noRight: (right: string, type: string) =>
    `You do not have the right to ${right} ${type} objects. Your text stays stored; an administrator can give you the right.`,
  right: { c: 'create', u: 'change' },
  discard: 'Discard…',
  // Unsaved work found
  restored: (time: string) => `Your changes from ${time}, not saved yet.`,
  staleWork: (time: string) => `You have unsaved changes from ${time}. The object was changed since then.`,
  show: 'Show',
  startAnother: 'Start another',
  compareMerge: 'Compare and merge',
  // Others
  /** The author of a change whose name is not known; in some languages after a preposition. */
  unknownAuthor: 'Somebody else',
  /** The subject of `here` whose name is not known. */
  unknownUser: 'Somebody else',
  names: (names: string[]) => new Intl.ListFormat('en').format(names),
  newerVersion: (who: string, version: number, names: string[]) =>
    `${who} saved version ${String(version)}: ${properties(names)}.`,
  barNewer: (who: string, version: number) =>
    `${who} saved version ${String(version)}; saving merges it with your changes.`,
  barDeleted: 'This object was deleted: restore it, or save your text as a new object, above the form.',
  merge: 'Merge',
  converted: (names: string[]) => `A change of the content type converted ${properties(names)}.`,
  updated: (who: string, names: string[]) => `${who} changed ${properties(names)}. The form shows it.`,
  savedBoth: (version: number, who: string, names: string[]) =>
    `Saved as version ${String(version)}. ${who} changed ${properties(names)}; both changes are saved.`,
  deleted: (who: string, time: string) => `${who} deleted this object ${time}. Your text is still here.`,
  deletedUnknown: 'This object was deleted. Your text is still here.',
  restore: 'Restore it',
  saveAsNew: 'Save my text as a new object',
  typeGone:
    'This content type was deleted, or you may not read it any more. Nothing can be saved; your text is still here to copy.',
  propertiesGone: (names: string[]) =>
    `The content type has changed: ${properties(names)} no longer ${names.length === 1 ? 'exists' : 'exist'}. What you typed there:`,
  dropValues: 'Remove these values',
  here: (who: string) => `${who} is here too`,
  hereIn: (who: string, field: string) => `${who} is here too, in ${field}`,
  meHere: 'Also open in another tab of yours',
  meHereIn: (field: string) => `Also open in another tab of yours, in ${field}`,
  merged: (names: string[]) => `No conflict, merged: ${properties(names)}.`,
  // Fields
  reset: 'Reset',
  resetLabel: (field: string) => `Reset ${field} to the stored value`,
  previous: 'Previous value',
  previousLabel: (field: string) => `Show the previous value of ${field}`,
  singleEmpty: 'This object does not exist yet, and you do not have the right to create it.',
};
