// Scheduled publications.
export const schedule = {
  title: 'Schedule',
  nothing: 'Nothing is scheduled. Open an object and choose a time beside “Publish”.',
  nothingOf: 'Nothing of this type is scheduled.',
  by: (name: string) => `by ${name}`,
  inZone: (zone: string) => `set for ${zone}`,
};
