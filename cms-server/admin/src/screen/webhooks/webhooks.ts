// Webhooks and their deliveries: requests, and states in one word.
import { api, sendOrThrow, sendRequest, type ApiResult, type Page, type Schema } from '../../api/client';
import { ProblemError } from '../../api/problem';
import { readObject } from '../../object/object-requests';
import { records, strings } from '../../type/definition';
import { targetOfPath } from '../../value/link';

export type Delivery = Schema['WebhookDelivery'];
export type Headers = NonNullable<Delivery['requestHeaders']>;

/** A line for each header of the log, and one for those that it left out. */
export function headerLines({ fields, truncated }: Headers): string {
  const lines = fields.map(({ name, value }) => `${name}: ${value}`);
  return [...lines, ...(truncated ? ['…'] : [])].join('\n');
}

export interface Webhook {
  id: string;
  name: string;
  type: string;
  url: string;
  enabled: boolean;
  pending: number;
  /** A delivery failed and will be retried. */
  failing: boolean;
  /** The time of the next attempt while all deliveries pause. */
  pausedUntil: string | null;
  secret: string;
}

export const STATES = ['pending', 'retrying', 'paused', 'failed', 'done'] as const;
export type State = (typeof STATES)[number];

/** The state of a delivery. While the server pauses a webhook, its unfinished deliveries are paused. */
export function stateOf(delivery: Pick<Delivery, 'status' | 'attempts'>, paused: boolean): State {
  if (delivery.status === 'done' || delivery.status === 'failed') return delivery.status;
  if (paused) return 'paused';
  return delivery.attempts > 0 ? 'retrying' : 'pending';
}

/** Returns whether the server has paused all deliveries of a webhook. */
export function isPaused(webhook: Webhook | undefined): boolean {
  return webhook?.enabled === true && typeof webhook.pausedUntil === 'string';
}

export async function readWebhooks({ signal }: { signal: AbortSignal }): Promise<Webhook[]> {
  const found = await sendOrThrow<Page<Webhook>>(api.GET('/api/v1/internal/webhook', { signal }));
  return found.data;
}

const WEBHOOK_TYPE = '_webhooks';

/** Settings of a webhook, except its state. */
export interface WebhookSettings {
  /** Names of types; empty: all. */
  types: string[];
  actions: string[];
  /** Names of its own headers. */
  headers: string[];
  debounceSeconds: number;
  etag: string | null;
}

export async function readSettings(id: string, signal: AbortSignal): Promise<WebhookSettings> {
  const result = await readObject(WEBHOOK_TYPE, id, signal);
  if ('problem' in result) throw new ProblemError(result.problem);
  const object: Record<string, unknown> = result.data;
  const named = (list: unknown, name: string) => strings(records(list).map((item) => item[name]));
  return {
    types: named(object.content_type_definitions, 'content_type_definition_name'),
    actions: named(object.actions, 'action'),
    headers: named(object.headers, 'header_name'),
    debounceSeconds: typeof object.debounceSeconds === 'number' ? object.debounceSeconds : 0,
    etag: result.etag,
  };
}

/** Switches deliveries on or off, if nobody has changed the webhook since it was read. */
export function setEnabled(id: string, enabled: boolean, etag: string | null): Promise<ApiResult<unknown>> {
  return sendRequest<unknown>(
    api.PATCH('/api/v1/content/{contentType}/{id}', {
      params: { path: { contentType: WEBHOOK_TYPE, id } },
      headers: { 'If-Match': etag ?? '*' },
      body: { enabled },
    }),
  );
}

export interface Subject {
  type: string;
  id: string;
  version: string | null;
}

const VERSION = /\/version\/(\d+)$/;

/** The object that a delivery is about; null for types, tests and collected changes. */
export function subjectOf(ref: string): Subject | null {
  const target = targetOfPath(ref.replace(VERSION, ''));
  return target && { ...target, version: VERSION.exec(ref)?.[1] ?? null };
}

/** How a receiver verifies a request, in JavaScript for Node. */
export const VERIFY_EXAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

// body: the bytes as received
export function isGenuine(secret, headers, body) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = Buffer.concat([
    Buffer.from(\`\${headers['webhook-id']}.\${headers['webhook-timestamp']}.\`),
    body,
  ]);
  const wanted = Buffer.from('v1,' + createHmac('sha256', key).update(signed).digest('base64'));
  const isRecent = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 300;
  return isRecent && headers['webhook-signature'].split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}`;
