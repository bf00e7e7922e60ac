-- Live objects, made anew: with the schedule of a publication, and with slots instead of an index
-- for each property of each type. The long column is last.
CREATE TABLE new_object (
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
    -- When the object is to be published, and the time zone in which the editor said so: both or
    -- none.
    scheduled_at INTEGER,
    scheduled_zone TEXT,
    owner INTEGER REFERENCES api_key (pk),
    editor INTEGER REFERENCES api_key (pk),
    -- How many slots the type has, and the values of the indexed properties by slot, as JSON.
    slot_count INTEGER NOT NULL,
    slots TEXT NOT NULL,
    title TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
INSERT INTO new_object
SELECT pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
       published_at, workflow_state, workflow_public_version, workflow_published_at, NULL, NULL,
       owner, editor, 0, '{}', title, data
FROM object;
-- Rows are never numbered twice, those of deleted objects included.
DELETE FROM sqlite_sequence WHERE name = 'new_object';
INSERT INTO sqlite_sequence (name, seq)
SELECT 'new_object', seq FROM sqlite_sequence WHERE name = 'object';
DROP TABLE object;
ALTER TABLE new_object RENAME TO object;

CREATE UNIQUE INDEX object_id ON object (ctd, id);
-- Equal times are in the order of creation, whichever way the list runs: two ways, two indexes.
CREATE INDEX object_created ON object (ctd, created_at);
CREATE INDEX object_newest ON object (ctd, created_at DESC);
CREATE INDEX object_updated ON object (ctd, updated_at, created_at);
CREATE INDEX object_scheduled ON object (scheduled_at) WHERE scheduled_at IS NOT NULL;
-- Approved content of types with a workflow; other types have no entries.
CREATE INDEX object_approved ON object (ctd, created_at) WHERE workflow_state = 'public';

-- What readers of Draft & Public types get: a row per object with status public or modified, in
-- its published version. Columns and indexes are those of `object`, so a list of the public view
-- is the same statement over another table; `scheduled_at` and `scheduled_zone` are always NULL.
CREATE TABLE published (
    pk INTEGER PRIMARY KEY REFERENCES object (pk) ON DELETE CASCADE,
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
    scheduled_at INTEGER,
    scheduled_zone TEXT,
    owner INTEGER,
    editor INTEGER,
    slot_count INTEGER NOT NULL,
    slots TEXT NOT NULL,
    title TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX published_id ON published (ctd, id);
CREATE INDEX published_created ON published (ctd, created_at);
CREATE INDEX published_newest ON published (ctd, created_at DESC);
CREATE INDEX published_updated ON published (ctd, updated_at, created_at);

INSERT INTO published
SELECT o.pk, o.ctd, o.id, o.created_at, coalesce(o.published_at, o.updated_at),
       coalesce(v.version, o.version), coalesce(v.version_at, o.version_at), 'public',
       o.public_version, o.published_at, o.workflow_state, o.workflow_public_version,
       o.workflow_published_at, NULL, NULL, o.owner, iif(v.object IS NULL, o.editor, v.editor),
       0, '{}', coalesce(v.title, o.title), coalesce(v.data, o.data)
FROM object o
JOIN ctd ON ctd.pk = o.ctd
LEFT JOIN object_version v
    ON v.object = o.pk AND v.version = o.public_version AND o.status = 'modified'
WHERE ctd.definition ->> '$.draftPublic' AND o.status IN ('public', 'modified');

-- How many objects the public view of a type has; 0 without Draft & Public.
ALTER TABLE ctd_state ADD COLUMN published INTEGER NOT NULL DEFAULT 0;
UPDATE ctd_state
SET published = (SELECT count(*) FROM published WHERE published.ctd = ctd_state.ctd),
    changes = changes + 1;

-- Workflows that the operator defined; the built-in ones are part of the program.
CREATE TABLE workflow (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL
) STRICT;

-- Which making of slots, their indexes, and `link` the folder has. An older one than the program's
-- is made again when the folder is opened: what they hold comes from functions.
ALTER TABLE meta ADD COLUMN derived INTEGER NOT NULL DEFAULT 1;
