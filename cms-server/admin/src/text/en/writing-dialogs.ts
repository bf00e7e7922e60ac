// Dialogs and notices of writing that are rarely needed.
import { plural } from '../format';

export const writingDialog = {
  largerThan: (size: string, limit: string) =>
    `Not saved: the object has ${size}, the server stores at most ${limit}.`,
  refusedSize: (size: string) =>
    `The object has ${size}. Perhaps a proxy before the server allows less than the server.`,
  largest: (label: string, size: string) => `The largest part is ${label} with ${size}.`,
  showPart: (label: string) => `Show ${label}`,
  tooLarge: 'Shorten it, then save again. Your text stays stored.',
  discardTitle: 'Discard your changes?',
  discardHelp: 'The form will show the stored object again. This cannot be undone.',
  discardStale:
    'The unsaved changes of the earlier state are removed; the form stays as it is. This cannot be undone.',
  discardNew: 'The form will be empty again. This cannot be undone.',
  discardNow: 'Discard changes',
  // Errors
  errorsTitle: (count: number) =>
    plural(count, { one: '1 validation error', other: `${String(count)} validation errors` }),
  allErrors: (count: number) => `Show all ${String(count)}`,
  myChanges: 'Your changes',
  changesOf: (who: string) => `Changes by ${who}`,
  typeChanges: 'Changes by the content type',
  // Decision
  resolveConflicts: 'Both changed the same property',
  resolveConverted: 'The content type has changed',
  resolveUnsavedWork: 'Compare and merge',
  resolveHelp: (who: string, version: number) =>
    `${who} saved version ${String(version)} while you were writing.`,
  before: 'Before',
  theirs: (who: string) => who,
  mine: 'You',
  useTheirs: (who: string) => `Use the text of ${who}`,
  convertedValue: 'Converted',
  useConverted: 'Use the converted value',
  useMine: 'Use mine',
  edit: 'Edit',
  empty: 'empty',
  back: 'Back to writing',
  saveChoices: 'Save with these choices',
  takeChoices: 'Put these choices into the form',
  copyMine: 'Copy all of mine',
};
