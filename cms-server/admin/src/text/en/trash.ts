// Deleted objects.
import { plural } from '../format';

export const trash = {
  title: 'Trash',
  about: (days: number) => `Deleted objects stay here for ${String(days)} days, then they are removed.`,
  count: (count: number, text: string) => plural(count, { one: '1 object', other: `${text} objects` }),
  nothing: 'The trash is empty.',
  search: 'Title or id…',
  by: 'Deleted by',
  byAnyone: 'By anyone',
  byMe: 'By me',
  deleted: (when: string, who: string) => `deleted ${when} by ${who}`,
  expires: (when: string) => `removed ${when}`,
  idTaken: 'The id is in use again.',
  view: 'View',
  open: 'Open',
  restore: 'Restore',
  restoreAs: 'Restore under another id…',
  restoreTitle: (title: string) => `Restore “${title}”`,
  restored: 'Restored.',
  id: 'Id',
  idHelp: 'Links to the object contain this id.',
  idCharacters:
    'The id contains a character that is not allowed. Use letters from a to z, digits, “-”, “_” and “.”.',
  gone: 'It is no longer in the trash: somebody else has restored or removed it.',
  remove: 'Remove permanently',
  removeSure: (title: string) => `“${title}” is removed with all its versions. This cannot be undone.`,
  empty: 'Empty the trash…',
  emptySure: (scope: string) =>
    `All deleted objects are removed permanently: ${scope}. This cannot be undone.`,
  emptied: (count: number, text: string) =>
    plural(count, { one: '1 object removed.', other: `${text} objects removed.` }),
  actionsFor: (title: string) => `More actions: ${title}`,
  rights: { create: 'create', delete: 'delete' },
};
