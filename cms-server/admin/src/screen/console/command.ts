// The command of `cms` that sends the same request as an operation. Plain values.
import type { Operation } from './operations';
import { quoted } from '../../value/command-line';
import { valueKey, type ParameterValues } from './request';

/** Commands by operation; words in braces are values. A command that ends with `-` reads the body. */
const CLI_COMMANDS: Record<string, string> = {
  content_list: 'object list {path.contentType}',
  search: 'search {query.q}',
  content_get: 'object get {path.contentType} {path.id}',
  content_create: 'object create {path.contentType} -',
  content_update: 'object update {path.contentType} {path.id} -',
  content_patch: 'object update --patch {path.contentType} {path.id} -',
  content_validate: 'object validate {path.contentType} -',
  content_delete: 'object delete {path.contentType} {path.id}',
  content_incoming: 'object incoming {path.contentType} {path.id}',
  content_listVersion: 'object versions {path.contentType} {path.id}',
  content_publish: 'publish {path.contentType} {path.id}',
  content_unpublish: 'unpublish {path.contentType} {path.id}',
  content_archive: 'archive {path.contentType} {path.id}',
  content_unschedule: 'schedule remove {path.contentType} {path.id}',
  getContentDefinitions: 'ctd list',
  getContentDefinition: 'ctd get {path.id}',
  deleteContentDefinition: 'ctd delete {path.id}',
  getAuthContext: 'whoami',
  getKeys: 'key list',
  deleteKey: 'key revoke {path.id}',
  rotateKey: 'key rotate {path.id}',
  getUsers: 'user list',
  getUser: 'user get {path.id}',
  deleteUser: 'user delete {path.id}',
  getWebhooks: 'webhook list',
  getWebhookLog: 'webhook log {path.id}',
  replayWebhook: 'webhook replay {path.id}',
  testWebhook: 'webhook test {path.id}',
  getWorkflows: 'workflow list',
  getWorkflowDefinitions: 'workflow list',
  getWorkflowState: 'workflow state {path.content_type} {path.object_id}',
  deleteWorkflowDefinition: 'workflow delete {path.id}',
  getSchedules: 'schedule list',
  getTrash: 'trash list',
  getJobs: 'job list',
  getJob: 'job get {path.id}',
  stopJob: 'job stop {path.id}',
  getActivity: 'activity',
  postReindex: 'reindex',
  postCheck: 'check',
  getOpenApiSchema: 'openapi',
  graphQLSchema: 'graphql schema',
  graphQLV2Schema: 'graphql schema --v2',
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
  content_validate: { 'query.id': '--id' },
  search: {
    'query.page': '--page',
    'query.limit': '--limit',
    'query.order_by': '--order-by',
    'query.hydrate': '--hydrate',
    'query.content_type[]': '--type',
    'query.fields[]': '--field',
    'query.item_fields[]': '--item-field',
  },
  getActivity: {
    'query.content_type[]': '--type',
    'query.id': '--id',
    'query.by': '--by',
    'query.action[]': '--action',
    'query.from': '--from',
    'query.to': '--to',
    'query.limit': '--limit',
  },
  getSchedules: { 'query.content_type[]': '--type' },
  getTrash: { 'query.content_type[]': '--type', 'query.limit': '--limit' },
};

/** Operations whose commands show published versions only, without a flag. */
const PUBLISHED_ONLY = ['content_list', 'search'];

interface Options {
  /** Includes drafts. */
  preview?: boolean;
  body?: string | undefined;
}

/** A text as the standard input of a command. */
const piped = (text: string, command: string) => `printf %s ${quoted(text)} | ${command}`;

/** The command that sends the same request; null if there is none, or if it has no flag for a value. */
export function asCommand(
  operation: Operation,
  values: ParameterValues,
  origin: string,
  { preview = false, body }: Options = {},
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
  if (preview && PUBLISHED_ONLY.includes(operation.id)) flags.push('--preview');
  const words = command.replace(/\{([^}]+)\}/g, (place, key: string) =>
    values[key] ? quoted(values[key]) : place,
  );
  const line = ['cms', words, ...flags, '--server', origin].join(' ');
  if (!command.endsWith(' -')) return line;
  return body === undefined ? null : piped(body, line);
}

/** The command that runs a GraphQL query. */
export function asGraphQlCommand(query: string, variables: string, origin: string, preview: boolean): string {
  const hasVariables = variables !== '{}' && variables !== '';
  const flags = [
    '--v2',
    ...(hasVariables ? [`--variables ${quoted(variables)}`] : []),
    ...(preview ? ['--preview'] : []),
  ];
  return piped(query, ['cms graphql query -', ...flags, '--server', origin].join(' '));
}
