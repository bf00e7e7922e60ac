// Parts of an object's screen that most visits do not need. They are loaded when they are first shown, or once
// the form has been open for a while: then they are there immediately, and without a network.
import { loadAgain } from '../../ui/load-again';

/** A part without a place for an error message is loaded again until it arrives. */
const part =
  <T>(load: () => Promise<T>) =>
  () =>
    loadAgain(load);

export const lazyParts = {
  changes: part(() => import('./ChangesDialog.svelte')),
  conflict: part(() => import('./MergeConflictDialog.svelte')),
  discard: part(() => import('./DiscardDialog.svelte')),
  errors: part(() => import('./ErrorSummary.svelte')),
  presence: part(() => import('./PresenceMark.svelte')),
  tooLarge: () => import('./TooLargeNotice.svelte'),
  delete: part(() => import('./side/DeleteDialog.svelte')),
  publish: part(() => import('./side/PublishDialog.svelte')),
  request: part(() => import('./side/RequestCommands.svelte')),
  schedule: part(() => import('./side/ScheduleDialog.svelte')),
  withdraw: part(() => import('./side/WithdrawDialog.svelte')),
  workflow: part(() => import('./side/Workflow.svelte')),
};
