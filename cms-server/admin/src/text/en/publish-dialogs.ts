// Dialogs before publishing, unpublishing, scheduling and deleting.
import { number, plural } from '../format';

export const publishDialog = {
  publishNow: 'Publish',
  saveAndPublish: 'Save and publish',
  withdraw: {
    unpublish: (title: string) => `Unpublish “${title}”?`,
    archive: (title: string) => `Archive “${title}”?`,
  },
  withdrawNote: {
    unpublish:
      'Readers no longer see it, it becomes a draft. To undo this, publish it: readers then see its current version.',
    archive: 'Readers no longer see it. To undo this, publish it: readers then see its current version.',
  },
  scheduleEnds: (when: string) =>
    `The publication scheduled for ${when} is cancelled, and undo does not bring it back.`,
  publishLater: 'Publish later…',
  done: {
    publish: 'Published.',
    unpublish: 'Unpublished. Readers do not see it any more.',
    archive: 'Archived. Readers do not see it any more.',
  },
  isScheduled: 'The publication is scheduled.',
  publishTitle: (title: string) => `Publish ${title}?`,
  firstTime: 'Readers see it for the first time.',
  visibleAgain: 'Readers see it again.',
  changesForVisitors: 'What changes for readers',
  nothingChanges: 'Its values are the same as those that readers already see.',
  linkedUnread: (count: number) =>
    plural(count, {
      one: 'It is not known whether readers see 1 linked object, because it could not be read.',
      other: `It is not known whether readers see ${String(count)} linked objects, because they could not be read.`,
    }),
  linkedTitle: (count: number) =>
    plural(count, {
      one: '1 linked object is not public in its current state:',
      other: `${String(count)} linked objects are not public in their current state:`,
    }),
  linkedMore: (count: number) => plural(count, { one: 'and 1 more.', other: `and ${number(count)} more.` }),
  linkedPartly: (checked: string, all: string) =>
    `Only the first ${checked} of ${all} linked objects were checked: the others may not be public either.`,
  linkedNote: 'Readers do not see drafts and archived objects, and see the published version of edited ones.',
  publishLinked: 'Publish them too',
  scheduleCancelled: 'The schedule is cancelled, because the object is published now.',
  scheduleTitle: 'Publish later',
  date: 'Date and time',
  zone: 'Time zone',
  zoneHelp: 'A name such as Europe/Warsaw',
  scheduleWords: (local: string, zone: string, utc: string, relative: string) =>
    `${local} in ${zone}, ${utc} UTC, ${relative}.`,
  tooSoon: 'Choose a time more than 5 minutes ahead.',
  skipped: 'This time does not exist on that day, because the clocks change. Choose another one.',
  unknownZone: 'There is no such time zone.',
  scheduleSubmit: 'Schedule',
  deleteTitle: (title: string) => `Delete ${title}?`,
  deleteNote: (days: string) => `It can be restored from the trash for ${days} days.`,
  deleteSeen: 'Readers see it now; they will not find it any more.',
  blocked: (count: string) => `${count} objects link to it. Remove these links first:`,
  blockedOne: '1 object links to it. Remove this link first:',
  blockedHidden: 'Objects that you may not read link to it, so it cannot be deleted.',
  checking: 'Looking for objects that link to it…',
  deleted: (title: string) => `${title} is deleted.`,
  restored: 'It is restored.',
};
