// The operation that the console opens with: the request behind the open screen. Plain values.
const MEDIA_TYPE = '_media';
const PLAN_SEGMENT = '+plan';
/** Screens without a name or an id in their path. */
const SCREEN_OPERATIONS: Record<string, string> = {
  // Home shows the newest changes.
  '': 'getActivity',
  activity: 'getActivity',
  keys: 'getKeys',
  me: 'getSessions',
  media: 'content_list',
  schedule: 'getSchedules',
  search: 'search',
  system: 'getJobs',
  trash: 'getTrash',
  types: 'getContentDefinitions',
  users: 'getUsers',
  webhooks: 'getWebhooks',
  workflows: 'getWorkflowDefinitions',
};

/** The query string of the console: operation and values. Empty for addresses without a screen. */
export function consoleQuery(segments: string[], query: URLSearchParams): Record<string, string> {
  const [place = '', name, id] = segments;
  // On the console screen, the query string stays as it is.
  if (place === 'api') return Object.fromEntries(query);
  if (place === 'types' && name === PLAN_SEGMENT) return { op: 'planContentTypes' };
  const isForm = name?.startsWith('+') === true || id?.startsWith('+') === true;
  if (place === 'c' && name !== undefined)
    return contentQuery(name, isForm ? undefined : id, query, segments[3]);
  if (place === 'media') return contentQuery(MEDIA_TYPE, name, query);
  if (name !== undefined && !isForm) {
    if (place === 'types') return { op: 'getContentDefinition', 'path.id': name };
    if (place === 'users') return { op: 'getUser', 'path.id': name };
    if (place === 'webhooks') return { op: 'getWebhookLog', 'path.id': name };
  }
  const op = SCREEN_OPERATIONS[place];
  if (op === undefined) return {};
  const words = query.get('q') ?? '';
  return { op, ...(words !== '' && ['search', 'trash', 'users'].includes(place) && { 'query.q': words }) };
}

function contentQuery(
  type: string,
  id: string | undefined,
  query: URLSearchParams,
  part?: string,
): Record<string, string> {
  if (id !== undefined) {
    const object = { 'path.contentType': type, 'path.id': id };
    const version = query.get('to') ?? query.get('from');
    if (part === 'compare')
      return version === null
        ? { op: 'content_listVersion', ...object }
        : { op: 'content_getVersions', ...object, 'path.versionId': version };
    const panels: Record<string, string> = { versions: 'content_listVersion', used: 'content_incoming' };
    const op = panels[query.get('panel') ?? ''] ?? 'content_get';
    return { op, ...object };
  }
  const words = query.get('q') ?? '';
  const order = query.get('order') ?? '';
  const conditions = query.get('filters') ?? '';
  const ordered = order !== '' && {
    'query.order_by': order.replace(/^-/, ''),
    'query.order_direction': order.startsWith('-') ? 'desc' : 'asc',
  };
  // Words of a list are a search in its type.
  if (words !== '')
    return { op: 'search', 'query.q': words, 'query.content_type[]': type, 'path.contentType': type };
  return {
    op: 'content_list',
    'path.contentType': type,
    // The console makes filters of the API from them.
    ...(conditions !== '' && { conditions }),
    ...ordered,
  };
}
