// Lists of objects.
export const list = {
  create: (type: string) => `New: ${type}`,
  empty: 'There are no objects of this type yet.',
  count: (shown: string, total: string) => `${shown} of ${total}`,
  title: 'Title',
  status: 'Status',
  edited: 'Edited',
  by: 'By',
  previous: 'Previous page',
  next: 'Next page',
};
