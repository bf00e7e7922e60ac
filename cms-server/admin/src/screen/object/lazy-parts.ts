// Parts of an object's screen that most visits do not need. They are loaded when they are first shown, or once
// the form has been open for a while: then they are there at once, and without a network.

export const lazyParts = {
  changes: () => import('./ChangesDialog.svelte'),
  conflict: () => import('./MergeConflictDialog.svelte'),
  discard: () => import('./DiscardDialog.svelte'),
  errors: () => import('./ErrorSummary.svelte'),
  tooLarge: () => import('./TooLargeNotice.svelte'),
  delete: () => import('./side/DeleteDialog.svelte'),
  publish: () => import('./side/PublishDialog.svelte'),
  request: () => import('./side/RequestCommands.svelte'),
  schedule: () => import('./side/ScheduleDialog.svelte'),
  withdraw: () => import('./side/WithdrawDialog.svelte'),
  workflow: () => import('./side/Workflow.svelte'),
};
