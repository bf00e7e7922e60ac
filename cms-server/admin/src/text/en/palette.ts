// The command palette.
export const palette = {
  actions: 'Actions',
  recent: 'Opened recently',
  objects: 'Objects',
  types: 'Types',
  screens: 'Screens',
  search: 'Search',
  list: 'List',
  searchFor: (text: string) => `Search everywhere for “${text}”`,
  hint: 'Arrow keys choose, Enter opens. “post: kettle” searches one type.',
};
