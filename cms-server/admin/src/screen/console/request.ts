// The request of an operation with its values, and the same request for programs. Plain values.
import { quoted } from '../../value/command-line';
import { daysBefore } from '../../value/clock';
import { isRecord } from '../../value/record';
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

/** The filters of the API for the conditions of a list: `lastDays` is known to this page only. */
export function filtersOf(conditions: string): string {
  const toFilter = (_key: string, value: unknown) =>
    isRecord(value) && value.type === 'lastDays'
      ? { type: 'greaterThanOrEqual', filter: daysBefore(Number(value.filter)) }
      : value;
  try {
    return JSON.stringify(JSON.parse(conditions, toFilter));
  } catch {
    return conditions;
  }
}

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
      // A parameter without a value stays in the path, as `{name}`.
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

/** The header with which programs get drafts too, as this page does. */
export const PREVIEW_HEADER = { 'X-MODE': 'preview' };

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
  // The operations `content_*`, which work with any content type, come first, because they have commands; then
  // paths with fewer parameters, which are more exact.
  const rank = ({ id, path: template }: Operation) =>
    id.startsWith('content_') ? 0 : template.split('{').length;
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
