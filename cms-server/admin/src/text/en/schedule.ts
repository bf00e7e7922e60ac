// Scheduled publications.
export const schedule = {
  title: 'Schedule',
  nothing: 'Nothing is scheduled. Open an object and choose a time beside “Publish”.',
  nothingOf: 'Nothing of this type is scheduled.',
  right: 'read a content type that can be published',
  move: 'Change time…',
  moveOf: (title: string) => `Change the time of “${title}”`,
  moveTitle: (title: string) => `Publish “${title}” later`,
  cancel: 'Cancel schedule',
  cancelOf: (title: string) => `Cancel the schedule of “${title}”`,
  isMoved: (title: string) => `“${title}” is rescheduled.`,
  isCancelled: (title: string) => `“${title}” is no longer scheduled.`,
  changedMeanwhile: 'Somebody has changed this object or its schedule meanwhile. Look at the list again.',
  undo: 'Undo',
  undone: 'Undone.',
  by: (name: string) => `by ${name}`,
  inZone: (zone: string) => `set for ${zone}`,
};
