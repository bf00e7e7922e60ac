// Where the console begins: with the request behind the open screen. Plain values.
const MEDIA_TYPE = '_media';
/** Screens without a name or an id in their path. */
const SCREEN_OPERATIONS: Record<string, string> = {
  activity: 'getActivity',
  keys: 'getKeys',
  media: 'content_list',
  schedule: 'getSchedules',
  search: 'search',
  trash: 'getTrash',
  types: 'getContentDefinitions',
  users: 'getUsers',
  webhooks: 'getWebhooks',
  workflows: 'getWorkflowDefinitions',
};

/** The query string of the console: operation and values. Empty for screens without a request of their own. */
export function consoleQuery(segments: string[], query: URLSearchParams): Record<string, string> {
  const [place = '', name, id] = segments;
  // The link to the open console leads to what it shows.
  if (place === 'api') return Object.fromEntries(query);
  const isForm = name?.startsWith('+') === true || id?.startsWith('+') === true;
  if (place === 'c' && name !== undefined) return ofContent(name, isForm ? undefined : id, query);
  if (place === 'media') return ofContent(MEDIA_TYPE, name, query);
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

function ofContent(type: string, id: string | undefined, query: URLSearchParams): Record<string, string> {
  if (id !== undefined) {
    const panels: Record<string, string> = { versions: 'content_listVersion', used: 'content_incoming' };
    const op = panels[query.get('panel') ?? ''] ?? 'content_get';
    return { op, 'path.contentType': type, 'path.id': id };
  }
  const [words, filters, order] = [
    query.get('q') ?? '',
    query.get('filters') ?? '',
    query.get('order') ?? '',
  ];
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
    ...(filters !== '' && { 'query.filters': filters }),
    ...ordered,
  };
}
