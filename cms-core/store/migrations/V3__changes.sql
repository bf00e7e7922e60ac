-- What the journal tells to others who follow it, also about what is gone: so it holds names, and
-- not only rows that may not be there any more. Rows of older programs have none and are not told.
ALTER TABLE journal ADD COLUMN type_name TEXT;
ALTER TABLE journal ADD COLUMN object_id TEXT;
ALTER TABLE journal ADD COLUMN version INTEGER;
-- Who may learn of the change: 0 who sees previews, 1 who sees all workflow states, 2 everybody.
ALTER TABLE journal ADD COLUMN audience INTEGER NOT NULL DEFAULT 0;

-- Answers to requests that came with an Idempotency-Key, for those that come again.
CREATE TABLE idempotency (
    pk INTEGER PRIMARY KEY,
    -- Who asked: the same key of somebody else is another one.
    api_key INTEGER NOT NULL REFERENCES api_key (pk),
    key TEXT NOT NULL,
    -- SHA-256 of the request.
    fingerprint BLOB NOT NULL,
    -- Microseconds since the epoch.
    at INTEGER NOT NULL,
    answer BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX idempotency_key ON idempotency (api_key, key);
CREATE INDEX idempotency_at ON idempotency (at);
