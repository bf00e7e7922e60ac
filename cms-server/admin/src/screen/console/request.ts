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
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value === '') continue;
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
const COMMANDS: Record<string, string> = {
  content_list: 'object list {path.contentType}',
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

/** The command that does the same, where there is one and nothing but the path is given. */
export function asCommand(operation: Operation, values: ParameterValues, origin: string): string | null {
  const command = COMMANDS[operation.id];
  const more = operation.parameters.some(
    (parameter) => parameter.in !== 'path' && values[valueKey(parameter)],
  );
  if (command === undefined || more) return null;
  const words = command.replace(/\{([^}]+)\}/g, (_all, key: string) => quoted(values[key] ?? ''));
  return `cms ${words} --server ${origin}`;
}
