// The frame around every screen.
import { plural } from '../format';

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
  screenOffline: 'This screen is loaded when the connection is back.',
  requests: 'Requests of this screen',
  shortcuts: 'Shortcuts',
  leaveTypes: 'Your edits of content types are not applied. Sign out and lose them?',
  leave: 'Your changes could not be stored. Leave anyway and lose them?',
  leaveUploads:
    'Files are still being uploaded. If you leave now, they are not added to this object. Leave anyway?',
  signOutUploads: 'Files are still being uploaded. Sign out and cancel the uploads?',
  signOutLoses: (count: number) =>
    plural(count, {
      one: 'An unsaved text could not be stored on the server. Sign out anyway and lose it?',
      other: `${String(count)} unsaved texts could not be stored on the server. Sign out anyway and lose them?`,
    }),
  live: 'live',
  notLive: 'not live',
  liveHelp: 'Changes of others appear here immediately.',
  notLiveHelp: 'No event stream: changes of others appear within 30 seconds.',
  manage: 'Manage',
  places: {
    api: 'API',
    keys: 'API keys',
    search: 'Search',
    system: 'System',
    types: 'Types',
    users: 'Users',
    webhooks: 'Webhooks',
    workflows: 'Workflows',
  },
};
