// Webhooks and their deliveries: requests, and states in one word.
import { api, sendOrThrow, type Page, type Schema } from '../../api/client';

export type Delivery = Schema['WebhookDelivery'];

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

export const STATES = ['waiting', 'retrying', 'paused', 'failed', 'done'] as const;
export type State = (typeof STATES)[number];

/** The state of a delivery. While the endpoint is down everything that is not over is paused. */
export function stateOf(delivery: Pick<Delivery, 'status' | 'attempts'>, paused: boolean): State {
  if (delivery.status === 'done' || delivery.status === 'failed') return delivery.status;
  if (paused) return 'paused';
  return delivery.attempts > 0 ? 'retrying' : 'waiting';
}

/** Whether the server has paused all deliveries of a webhook. */
export function isPaused(webhook: Webhook | undefined): boolean {
  return webhook?.enabled === true && typeof webhook.pausedUntil === 'string';
}

export async function readWebhooks({ signal }: { signal: AbortSignal }): Promise<Webhook[]> {
  const found = await sendOrThrow<Page<Webhook>>(api.GET('/api/v1/internal/webhook', { signal }));
  return found.data;
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
