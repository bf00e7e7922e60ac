// The request of an operation with its values, and the same request for programs. Plain values.
import type { Operation } from './operations';

export interface ConsoleRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Values by `in` and name: `path.id`. */
export type ParameterValues = Record<string, string>;

export const valueKey = ({ in: where, name }: Operation['parameters'][number]) => `${where}.${name}`;

/** Names of required parameters without a value. */
export function missingOf(operation: Operation, values: ParameterValues): string[] {
  return operation.parameters
    .filter((parameter) => parameter.required && !values[valueKey(parameter)])
    .map(({ name }) => name);
}

export function requestOf(operation: Operation, values: ParameterValues, body: string): ConsoleRequest {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    const value = values[valueKey(parameter)] ?? '';
    if (parameter.in === 'path') {
      // What is not given yet is named.
      if (value !== '') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    } else if (value === '') continue;
    else if (parameter.in === 'header') headers[parameter.name] = value;
    else if (parameter.type === 'list')
      for (const one of value.split('\n').filter(Boolean)) query.append(parameter.name, one);
    else query.append(parameter.name, value);
  }
  const takesBody = operation.body !== null && operation.body !== undefined && body.trim() !== '';
  if (takesBody) headers['Content-Type'] = 'application/json';
  const search = query.toString();
  return {
    method: operation.method,
    path: search === '' ? path : `${path}?${search}`,
    headers,
    body: takesBody ? body : undefined,
  };
}

/** A word of a shell command: in quotes, unless it is plain. */
export function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function asCurl({ method, path, headers, body }: ConsoleRequest, origin: string): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(origin + path)}`];
  for (const [name, value] of Object.entries({ 'X-AUTH-TOKEN': 'KEY', ...headers }))
    lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`--data-raw ${quoted(body)}`);
  return lines.join(' ');
}

export function asFetch({ method, path, headers, body }: ConsoleRequest, origin: string): string {
  const options = {
    ...(method !== 'GET' && { method }),
    headers: { 'X-AUTH-TOKEN': 'KEY', ...headers },
    ...(body !== undefined && { body }),
  };
  return `await fetch(${JSON.stringify(origin + path)}, ${JSON.stringify(options)})`;
}

/** Commands by operation; words in braces are values. */
const CLI_COMMANDS: Record<string, string> = {
  content_list: 'object list {path.contentType}',
  search: 'search {query.q}',
  content_get: 'object get {path.contentType} {path.id}',
  content_delete: 'object delete {path.contentType} {path.id}',
  content_incoming: 'object incoming {path.contentType} {path.id}',
  content_publish: 'publish {path.contentType} {path.id}',
  content_unpublish: 'unpublish {path.contentType} {path.id}',
  content_archive: 'archive {path.contentType} {path.id}',
  getKeys: 'key list',
  getUsers: 'user list',
  getWebhooks: 'webhook list',
  getWebhookLog: 'webhook log {path.id}',
  replayWebhook: 'webhook replay {path.id}',
  testWebhook: 'webhook test {path.id}',
  getJobs: 'job list',
  getJob: 'job get {path.id}',
  stopJob: 'job stop {path.id}',
  getActivity: 'activity',
  postReindex: 'reindex',
  postCheck: 'check',
  getOpenApiSchema: 'openapi',
};

/** Flags by operation and parameter. */
const CLI_FLAGS: Record<string, Record<string, string>> = {
  content_list: {
    'query.page': '--page',
    'query.limit': '--limit',
    'query.order_by': '--order-by',
    'query.hydrate': '--hydrate',
    'query.filters': '--filters',
    'query.ids[]': '--id',
    'query.fields[]': '--field',
  },
  content_get: { 'query.hydrate': '--hydrate', 'query.fields[]': '--field' },
  search: {
    'query.page': '--page',
    'query.limit': '--limit',
    'query.order_by': '--order-by',
    'query.hydrate': '--hydrate',
    'query.content_type[]': '--type',
    'query.fields[]': '--field',
    'query.item_fields[]': '--item-field',
  },
};

/** Operations whose commands show published versions only, without a flag. */
const PUBLISHED_ONLY = ['content_list', 'search'];

/** The command that does the same, where there is one and it has flags for all values. */
export function asCommand(
  operation: Operation,
  values: ParameterValues,
  origin: string,
  options: { preview?: boolean } = {},
): string | null {
  const command = CLI_COMMANDS[operation.id];
  if (command === undefined) return null;
  const flags: string[] = [];
  for (const parameter of operation.parameters) {
    const key = valueKey(parameter);
    const value = values[key] ?? '';
    if (value === '' || command.includes(`{${key}}`)) continue;
    const flag = CLI_FLAGS[operation.id]?.[key];
    if (flag !== undefined) flags.push(...value.split('\n').map((one) => `${flag} ${quoted(one)}`));
    else if (key === 'query.order_direction') flags.push(...(value === 'desc' ? ['--desc'] : []));
    else return null;
  }
  if (options.preview && PUBLISHED_ONLY.includes(operation.id)) flags.push('--preview');
  const words = command.replace(/\{([^}]+)\}/g, (place, key: string) =>
    values[key] ? quoted(values[key]) : place,
  );
  return ['cms', words, ...flags, '--server', origin].join(' ');
}

/** The operation of a request that was sent, with its values; null when the document does not have it. */
export function operationOf(
  operations: Operation[],
  method: string,
  path: string,
): { operation: Operation; values: ParameterValues; complete: boolean } | null {
  const [pathname = '', search = ''] = path.split('?');
  const parts = pathname.split('/');
  const candidates = operations.filter((one) => {
    const template = one.path.split('/');
    return (
      one.method === method &&
      template.length === parts.length &&
      template.every((part, index) => part.startsWith('{') || part === parts[index])
    );
  });
  // Operations of all types have commands; otherwise a path without braces is more exact.
  const rank = ({ id, path: template }: Operation) =>
    CLI_COMMANDS[id] === undefined ? template.split('{').length : 0;
  const [operation] = candidates.sort((a, b) => rank(a) - rank(b));
  if (!operation) return null;
  const values: ParameterValues = {};
  operation.path.split('/').forEach((part, index) => {
    if (part.startsWith('{')) values[`path.${part.slice(1, -1)}`] = decodeURIComponent(parts[index] ?? '');
  });
  const known = new Set(operation.parameters.map(valueKey));
  let complete = true;
  for (const [name, value] of new URLSearchParams(search)) {
    const key = `query.${name}`;
    if (!known.has(key)) complete = false;
    else values[key] = values[key] === undefined ? value : `${values[key]}\n${value}`;
  }
  return { operation, values, complete };
}
