-- One row of facts about the folder. The revisions tell every process on the folder, in the very
-- snapshot it reads, whether what it holds in memory is still true.
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    organization TEXT NOT NULL,
    space TEXT NOT NULL,
    schema_rev INTEGER NOT NULL,
    auth_rev INTEGER NOT NULL
) STRICT;

-- Content type definitions. `pk` is never reused: index names, objects and the journal hold it.
CREATE TABLE ctd (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL,
    -- Value of meta.schema_rev when this row was written last.
    rev INTEGER NOT NULL,
    -- Microseconds since the epoch.
    created_at INTEGER NOT NULL,
    updated_at INTEGER
) STRICT;

-- What changes with every object write, kept away from the wide rows of `ctd`: how many objects
-- live, and a counter of changes that makes a remembered count checkable.
CREATE TABLE ctd_state (
    ctd INTEGER PRIMARY KEY REFERENCES ctd (pk) ON DELETE CASCADE,
    live INTEGER NOT NULL,
    changes INTEGER NOT NULL
) STRICT;

-- Live objects, in their current version; nothing deleted is ever here. `pk` is the creation
-- sequence. Times are whole seconds, as the API shows and compares them. The long column is last.
CREATE TABLE object (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    ctd INTEGER NOT NULL REFERENCES ctd (pk),
    id TEXT NOT NULL COLLATE NOCASE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    version_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    public_version INTEGER,
    published_at INTEGER,
    workflow_state TEXT NOT NULL,
    workflow_public_version INTEGER,
    workflow_published_at INTEGER,
    owner INTEGER REFERENCES api_key (pk),
    editor INTEGER REFERENCES api_key (pk),
    title TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX object_id ON object (ctd, id);
-- Equal times are in the order of creation, whichever way the list runs: two ways, two indexes.
CREATE INDEX object_created ON object (ctd, created_at);
CREATE INDEX object_newest ON object (ctd, created_at DESC);
CREATE INDEX object_updated ON object (ctd, updated_at, created_at);

-- Deleted objects, kept for a while so that the operator can bring them back.
CREATE TABLE trash (
    pk INTEGER PRIMARY KEY,
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    id TEXT NOT NULL COLLATE NOCASE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    version_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    public_version INTEGER,
    published_at INTEGER,
    workflow_state TEXT NOT NULL,
    workflow_public_version INTEGER,
    workflow_published_at INTEGER,
    owner INTEGER,
    editor INTEGER,
    title TEXT NOT NULL,
    data TEXT NOT NULL,
    -- Microseconds since the epoch.
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX trash_deleted ON trash (ctd, deleted_at);

-- Versions that a newer one replaced; the newest stands in `object` alone.
CREATE TABLE object_version (
    object INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    public_version INTEGER,
    published_at INTEGER,
    workflow_state TEXT NOT NULL,
    workflow_public_version INTEGER,
    workflow_published_at INTEGER,
    editor INTEGER,
    title TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (object, version)
) STRICT;

-- Who links to whom, for "is it used" and for cascades. Targets need not exist any more.
CREATE TABLE link (
    target_type TEXT NOT NULL,
    target_id TEXT NOT NULL COLLATE NOCASE,
    object INTEGER NOT NULL REFERENCES object (pk) ON DELETE CASCADE,
    PRIMARY KEY (target_type, target_id, object)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_object ON link (object);

-- Revoked keys stay: versions name them as authors.
CREATE TABLE api_key (
    pk INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    rules TEXT NOT NULL,
    -- SHA-256 of the token.
    hash BLOB NOT NULL UNIQUE,
    -- Microseconds since the epoch.
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;

-- Every change, written in the transaction that makes it. One writer, so seq order is commit
-- order. The nonce tells a journal that continued from one that was put back to an older state.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    nonce INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    ctd INTEGER NOT NULL,
    object INTEGER
) STRICT;
