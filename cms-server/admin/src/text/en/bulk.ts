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
    publish: 'Readers see the current version of each. To take it back, unpublish.',
    unpublish: 'Readers no longer see them; they become drafts. To take it back, publish.',
    archive: 'Readers no longer see them. To take it back, publish.',
    delete:
      'They move to the trash, from which they can be restored. Objects that others link to are refused.',
    patch: 'Each gets a new version; its earlier versions stay.',
    transition: 'Objects that are not in the state that the transition begins in are refused.',
  },
  matched: (count: number, text: string) => `${objects(count, text)}.`,
  sample: 'Sample',
  before: 'Before',
  after: 'After',
  andMore: (count: string) => `… and ${count} more`,
  typeNumber: (count: string) => `Type the number ${count} to confirm`,
  chooseProperty: 'Choose a property',
  transition: 'Transition',
  progress: (done: string, total: string) => `${done} of ${total} …`,
  result: (succeeded: string, refused: string) => `${succeeded} changed, ${refused} refused.`,
  wasStopped: 'Stopped. What was done stays.',
  refused: 'Refused',
  moreRefused: (count: string) => `${count} more were refused.`,
  refusedSelected: 'The refused objects are selected in the list.',
  undo: 'Undo',
  undone: 'Undone.',
  needs: (right: string) => `Missing right: ${right}`,
  rights: { update: 'update', publish: 'publish', delete: 'delete' },
};
