// Actions on several objects.
import { plural } from '../format';

const objects = (count: number, text: string) => plural(count, { one: '1 object', other: `${text} objects` });

export const bulk = {
  region: 'Actions on selected rows',
  more: 'More',
  actions: {
    publish: 'Publish',
    unpublish: 'Unpublish',
    archive: 'Archive',
    delete: 'Delete',
    patch: 'Edit a property…',
    transition: 'Move to a state…',
  },
  titles: {
    publish: 'Publish objects',
    unpublish: 'Unpublish objects',
    archive: 'Archive objects',
    delete: 'Delete objects',
    patch: 'Edit a property of objects',
    transition: 'Move objects to another state',
  },
  run: {
    publish: (count: number, text: string) => `Publish ${objects(count, text)}`,
    unpublish: (count: number, text: string) => `Unpublish ${objects(count, text)}`,
    archive: (count: number, text: string) => `Archive ${objects(count, text)}`,
    delete: (count: number, text: string) => `Delete ${objects(count, text)}`,
    patch: (count: number, text: string) => `Change ${objects(count, text)}`,
    transition: (count: number, text: string) => `Move ${objects(count, text)}`,
  },
  done: {
    publish: (count: number, text: string) => `${objects(count, text)} published.`,
    unpublish: (count: number, text: string) => `${objects(count, text)} unpublished.`,
    archive: (count: number, text: string) => `${objects(count, text)} archived.`,
    delete: (count: number, text: string) => `${objects(count, text)} deleted.`,
    patch: (count: number, text: string) => `${objects(count, text)} changed.`,
    transition: (count: number, text: string) => `${objects(count, text)} moved.`,
  },
  consequences: {
    publish: 'Readers see the current version of each.',
    unpublish: 'Readers no longer see them; they become drafts.',
    archive: 'Readers no longer see them.',
    delete:
      'They move to the trash, from which they can be restored. Objects that others link to are refused.',
    patch: 'Each gets a new version; its earlier versions stay.',
    transition: 'Objects that are not in the start state of the transition are refused.',
  },
  canUndo: 'You can undo this afterwards.',
  /** What is left when there is no undo. */
  cannotUndo: {
    publish: 'This cannot be undone: what readers see now will be only in the versions of each object.',
    unpublish: 'This cannot be undone: each object must be published again.',
    archive: 'This cannot be undone: each object must be published again.',
    delete: 'This cannot be undone in one step: the trash has the objects for 60 days.',
    patch: 'This cannot be undone in one step: the versions of each object have the earlier value.',
    transition: 'This cannot be undone: the transitions of the workflow decide how an object gets back.',
  },
  same: (count: number, text: string) =>
    plural(count, {
      one: '1 object has this value already and stays as it is.',
      other: `${text} objects have this value already and stay as they are.`,
    }),
  sameStay: 'Objects that have this value already stay as they are.',
  sameToo: 'Objects that have this value already get a new version too.',
  matched: (count: number, text: string) => `${objects(count, text)}.`,
  sample: 'Sample',
  unchanged: 'no change',
  schedulesEnd: 'Scheduled publications of these objects are cancelled, and undo does not bring them back.',
  before: 'Before',
  after: 'After',
  andMore: (count: string) => `… and ${count} more`,
  differs: (shown: string) =>
    `The list shows ${shown}. Either objects have changed since, or filters of the list match single words: this action compares complete values. Refresh the list, remove the words or the filters, or select rows.`,
  typeNumber: (count: string) => `Enter the number ${count} to confirm`,
  chooseProperty: 'Choose a property',
  transition: 'Transition',
  progress: (done: string, total: string) => `${done} of ${total} …`,
  result: (succeeded: string, refused: string) => `${succeeded} changed, ${refused} refused.`,
  leave:
    'The action is still running. If you leave now, it stops; changes made so far are kept. Leave anyway?',
  wasStopped: 'Stopped. Changes made so far are kept.',
  outcomeUnknown:
    'It is unknown which further objects were changed: the response of the server was lost, and the result could not be read.',
  refused: 'Refused',
  moreRefused: (count: string) => `${count} more were refused.`,
  refusedSelected: 'The refused objects are selected in the list.',
  undo: 'Undo',
  undone: 'Undone.',
  undoneOf: (count: number, text: string) => `Undone for ${objects(count, text)}.`,
  undoLeft: (count: number, text: string) =>
    plural(count, {
      one: '1 object was changed meanwhile and stays as it is.',
      other: `${text} objects were changed meanwhile and stay as they are.`,
    }),
  undoModified: (count: number, text: string) =>
    plural(count, {
      one: '1 object stays “Edited”: readers see its published version.',
      other: `${text} objects stay “Edited”: readers see their published versions.`,
    }),
  undoGone: (count: number, text: string) =>
    plural(count, {
      one: '1 object is no longer in the trash.',
      other: `${text} objects are no longer in the trash.`,
    }),
  undoInTrash: (count: number, text: string) =>
    plural(count, { one: '1 object stays in the trash:', other: `${text} objects stay in the trash:` }),
  undoReason: (title: string, reason: string) => `“${title}” (${reason})`,
  undoLinks: (title: string) => `“${title}” was restored without some of its links.`,
  undoUnknown: 'It is unknown whether this was undone for others too: no response arrived.',
  needs: (right: string) => `Missing right: ${right}`,
  rights: { update: 'update', publish: 'publish', delete: 'delete' },
};
