-- Deliveries are ordered within queues: that of their object by type and id, for content types that
-- of the type. Only the head of a queue is sent.
ALTER TABLE webhook_delivery ADD COLUMN queue TEXT GENERATED ALWAYS AS
    (CASE WHEN object IS NULL THEN type_name ELSE type_name || '/' || lower(id) END) VIRTUAL;
ALTER TABLE webhook_delivery ADD COLUMN head INTEGER NOT NULL DEFAULT 0;
-- Since when it is the head of its queue, and its webhook is enabled: what waits too long is given up.
ALTER TABLE webhook_delivery ADD COLUMN due_since INTEGER;
-- Whether the last attempt failed because the endpoint was down, without a success of any since.
ALTER TABLE webhook_delivery ADD COLUMN outage INTEGER NOT NULL DEFAULT 0;

-- While the endpoint is down: failed single attempts, and when the next one is made.
ALTER TABLE webhook ADD COLUMN probes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN resume_at INTEGER;

CREATE INDEX webhook_order ON webhook_delivery (webhook, queue, pk) WHERE queued;
-- What waits has all of its time from the upgrade on.
UPDATE webhook_delivery SET head = 1, due_since = unixepoch() * 1000000
WHERE pk IN (SELECT min(pk) FROM webhook_delivery WHERE queued GROUP BY webhook, queue);
UPDATE webhook_delivery SET state = 'failed' WHERE NOT queued AND state = 'error';

CREATE UNIQUE INDEX webhook_head ON webhook_delivery (webhook, queue) WHERE head;
CREATE INDEX webhook_due ON webhook_delivery (webhook, due_at, pk) WHERE head;
CREATE INDEX webhook_expiry ON webhook_delivery (due_since) WHERE head;
CREATE INDEX webhook_outage ON webhook_delivery (webhook) WHERE outage;
