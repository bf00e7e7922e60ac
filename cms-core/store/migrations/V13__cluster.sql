-- Rows of a cluster travel by an integer key, so every table that nodes share gets one. The former keys
-- stay as unique indexes.
CREATE TABLE new_object_version (
    pk INTEGER PRIMARY KEY,
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
    changed TEXT,
    data TEXT NOT NULL
) STRICT;
INSERT INTO new_object_version
    (object, version, updated_at, version_at, status, public_version, published_at, workflow_state,
     workflow_public_version, workflow_published_at, editor, title, changed, data)
SELECT object, version, updated_at, version_at, status, public_version, published_at, workflow_state,
       workflow_public_version, workflow_published_at, editor, title, changed, data
FROM object_version ORDER BY object, version;
DROP TABLE object_version;
ALTER TABLE new_object_version RENAME TO object_version;
CREATE UNIQUE INDEX object_version_key ON object_version (object, version);

CREATE TABLE new_stored_file (
    pk INTEGER PRIMARY KEY,
    -- Id of the media object, in lower case.
    id TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    -- Microseconds since the epoch.
    stored_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_stored_file (id, size, sha256, stored_at)
SELECT id, size, sha256, stored_at FROM stored_file;
DROP TABLE stored_file;
ALTER TABLE new_stored_file RENAME TO stored_file;

CREATE TABLE new_openid_sign_in (
    pk INTEGER PRIMARY KEY,
    -- SHA-256 of the parameter `state`.
    state_hash BLOB NOT NULL UNIQUE,
    -- SHA-256 of the cookie of the browser.
    browser_hash BLOB NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    return_to TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_openid_sign_in (state_hash, browser_hash, nonce, verifier, return_to, expires_at)
SELECT state_hash, browser_hash, nonce, verifier, return_to, expires_at FROM openid_sign_in;
DROP TABLE openid_sign_in;
ALTER TABLE new_openid_sign_in RENAME TO openid_sign_in;
CREATE INDEX openid_sign_in_expiry ON openid_sign_in (expires_at);

CREATE TABLE new_job_chunk (
    pk INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES job (pk) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    objects BLOB NOT NULL
) STRICT;
INSERT INTO new_job_chunk (job, position, objects)
SELECT job, position, objects FROM job_chunk ORDER BY job, position;
DROP TABLE job_chunk;
ALTER TABLE new_job_chunk RENAME TO job_chunk;
CREATE UNIQUE INDEX job_chunk_key ON job_chunk (job, position);

CREATE TABLE new_job_refusal (
    pk INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES job (pk) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- The id and the errors of a refused object, as JSON.
    errors TEXT NOT NULL
) STRICT;
INSERT INTO new_job_refusal (job, position, errors)
SELECT job, position, errors FROM job_refusal ORDER BY job, position;
DROP TABLE job_refusal;
ALTER TABLE new_job_refusal RENAME TO job_refusal;
CREATE UNIQUE INDEX job_refusal_key ON job_refusal (job, position);

CREATE TABLE new_former_definition (
    pk INTEGER PRIMARY KEY,
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    rev INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    definition TEXT NOT NULL
) STRICT;
INSERT INTO new_former_definition (ctd, rev, replaced_at, definition)
SELECT ctd, rev, replaced_at, definition FROM former_definition ORDER BY ctd, rev;
DROP TABLE former_definition;
ALTER TABLE new_former_definition RENAME TO former_definition;
CREATE UNIQUE INDEX former_definition_key ON former_definition (ctd, rev);

-- What belongs to this data directory alone. As the replica of a node it has the id of its cluster, and
-- the last commit that was applied to it.
CREATE TABLE local (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    derived INTEGER NOT NULL,
    cluster TEXT,
    commit_no INTEGER,
    nonce INTEGER
) STRICT;
INSERT INTO local (id, derived) VALUES (1, coalesce((SELECT derived FROM meta), 0));
ALTER TABLE meta DROP COLUMN derived;
