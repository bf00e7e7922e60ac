// The frame around every screen.
export const shell = {
  skip: 'Skip to content',
  navigation: 'Navigation',
  menu: 'Menu',
  content: 'Content',
  all: 'Everything',
  home: 'Home',
  media: 'Media',
  trash: 'Trash',
  activity: 'Activity',
  schedule: 'Schedule',
  search: 'Search or jump to…',
  account: 'Account',
  settings: 'My settings',
  signOut: 'Sign out',
  offline: 'You are offline. What you type is stored in this browser, and saved when the connection is back.',
};
