-- Webhooks that are told what happens, by the rows of their objects: those whose creation the
-- deliveries have come to.
CREATE TABLE webhook (
    object INTEGER PRIMARY KEY
) STRICT;

-- What a webhook is told: a queue in the order of `pk`, and a log of what was sent. The body is made
-- when it is sent, of the version that is named here.
CREATE TABLE webhook_delivery (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook INTEGER NOT NULL REFERENCES webhook (object) ON DELETE CASCADE,
    -- The same however often it is sent.
    message TEXT NOT NULL,
    -- Microseconds since the epoch, like the other times here.
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    -- Row of the type; NULL for a test.
    ctd INTEGER,
    -- Row and version of the object; NULL when this is about a type.
    object INTEGER,
    version INTEGER,
    type_name TEXT NOT NULL,
    -- Id of the object or type.
    id TEXT NOT NULL,
    -- Whether it is yet to be sent.
    queued INTEGER NOT NULL DEFAULT 1,
    due_at INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'pending',
    attempts INTEGER NOT NULL DEFAULT 0,
    attempted_at INTEGER,
    -- Of the last attempt: status and beginning of the answer, or why there was none.
    status INTEGER,
    response TEXT,
    error TEXT,
    request TEXT
) STRICT;
CREATE INDEX webhook_queue ON webhook_delivery (webhook, pk) WHERE queued;
CREATE INDEX webhook_log ON webhook_delivery (webhook, pk) WHERE NOT queued;

-- How far deliveries were made of the journal, and what the secrets of webhooks are made of.
ALTER TABLE meta ADD COLUMN webhook_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN webhook_key TEXT NOT NULL DEFAULT '';
UPDATE meta SET webhook_seq = (SELECT coalesce(max(seq), 0) FROM journal);
