-- When the object is to be published, in seconds since the epoch, and the time zone in which the
-- editor said so: both or none.
ALTER TABLE object ADD COLUMN scheduled_at INTEGER;
ALTER TABLE object ADD COLUMN scheduled_zone TEXT;
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
    owner INTEGER,
    editor INTEGER,
    title TEXT NOT NULL,
    data TEXT NOT NULL,
    scheduled_at INTEGER,
    scheduled_zone TEXT
) STRICT;
CREATE UNIQUE INDEX published_id ON published (ctd, id);
CREATE INDEX published_created ON published (ctd, created_at);
CREATE INDEX published_newest ON published (ctd, created_at DESC);
CREATE INDEX published_updated ON published (ctd, updated_at, created_at);

INSERT INTO published
SELECT o.pk, o.ctd, o.id, o.created_at, coalesce(o.published_at, o.updated_at),
       coalesce(v.version, o.version), coalesce(v.version_at, o.version_at), 'public',
       o.public_version, o.published_at, o.workflow_state, o.workflow_public_version,
       o.workflow_published_at, o.owner, iif(v.object IS NULL, o.editor, v.editor),
       coalesce(v.title, o.title), coalesce(v.data, o.data), NULL, NULL
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

-- Which making of the property indexes and of `link` the folder has. An older one than the
-- program's is made again when the folder is opened: what they hold comes from functions.
ALTER TABLE meta ADD COLUMN derived INTEGER NOT NULL DEFAULT 1;
