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

/** No connection, no response in time, or a failure of the receiver itself. */
function isOutage({ status, attempts, response }: Delivery): boolean {
  const isOver = status === 'done' || status === 'failed';
  return !isOver && attempts > 0 && (response === null || response.status >= 500);
}

/** Tells whether the server has paused a webhook: requests about two objects failed by an outage. */
export function isPaused(deliveries: Delivery[]): boolean {
  const objects = deliveries.filter(isOutage).map(({ ref }) => ref.replace(/\/version\/\d+$/, ''));
  return new Set(objects).size > 1;
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
