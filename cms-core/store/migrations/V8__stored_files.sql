-- Size and SHA-256 of stored files, as they were uploaded. Files that an earlier version received have
-- no row until a check records them.
CREATE TABLE stored_file (
    -- Id of the media object, in lower case.
    id TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    -- Microseconds since the epoch.
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
