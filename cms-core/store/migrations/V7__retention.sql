-- Stored files without a media object, and when a clean-up of this database first saw each of them, in
-- microseconds since the epoch.
CREATE TABLE orphan (
    file TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The clock of the machine as clean-ups saw it: when they did last, the time that they go by, and for
-- how long the server has run since the clock left that time behind. All in microseconds.
ALTER TABLE meta ADD COLUMN clock_seen_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN clock_trusted_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN clock_waited INTEGER NOT NULL DEFAULT 0;
-- The last change is the last time that is known of a folder of an older program.
UPDATE meta SET clock_trusted_at = (SELECT coalesce(max(at), 0) FROM journal WHERE seq = (SELECT max(seq) FROM journal));
UPDATE meta SET clock_seen_at = clock_trusted_at;
