// Links to other objects.
export const relation = {
  search: (field: string) => `${field}: search`,
  type: (field: string) => `${field}: type`,
  chooseType: 'Choose a type…',
  external: 'External address (URL)',
  placeholder: 'Search…',
  mayNotRead: 'You may not read this type.',
  create: (type: string, title: string) => (title === '' ? `New: ${type}` : `New: ${type} “${title}”`),
  address: 'Address',
  missing: 'does not exist any more',
  unknown: 'could not be read',
  damaged: 'is not a link',
  notPublic: 'readers do not see it yet',
  openFull: 'Open as a page',
  unsavedNew: (title: string, list: string) =>
    `${title} is not saved. It is stored: continue in “${list}” on Home.`,
  unsaved: (title: string) => `${title} has unsaved changes. They are stored: open it again to continue.`,
};
