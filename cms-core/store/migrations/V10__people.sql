-- Who sends requests: keys, users, and the tasks of the server (kind `system`). Removed actors stay,
-- with `revoked_at`: versions and the journal name them. Users and system actors have a random `hash`,
-- which is the digest of no token.
ALTER TABLE api_key RENAME TO actor;
-- The token before a rotation, valid until a time in microseconds since the epoch.
ALTER TABLE actor ADD COLUMN previous_hash BLOB;
ALTER TABLE actor ADD COLUMN previous_until INTEGER;
INSERT INTO actor (uid, name, kind, rules, hash, created_at)
VALUES ('schedule', 'schedule', 'system', '[]', randomblob(32), 0),
       ('retention', 'retention', 'system', '[]', randomblob(32), 0);

-- Users that exist. Times are microseconds since the epoch, here and below.
CREATE TABLE user (
    actor INTEGER PRIMARY KEY REFERENCES actor (pk),
    email TEXT NOT NULL,
    -- Unicode lower case of the address.
    email_key TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    may_publish INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    -- PHC string of the password; NULL for a user without a password.
    password TEXT,
    openid_issuer TEXT,
    openid_subject TEXT,
    last_seen_at INTEGER
) STRICT;
CREATE UNIQUE INDEX user_openid ON user (openid_issuer, openid_subject) WHERE openid_subject IS NOT NULL;

CREATE TABLE session (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user INTEGER NOT NULL REFERENCES user (actor) ON DELETE CASCADE,
    -- SHA-256 of the value of the cookie.
    hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    -- Of the sign-in.
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL
) STRICT;
CREATE INDEX session_user ON session (user);

-- Codes of links for set-up (without a user), invitation and password reset; one per user.
CREATE TABLE sign_in_link (
    pk INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    user INTEGER UNIQUE REFERENCES user (actor) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT;

-- Sign-ins by OpenID Connect between the redirect to the issuer and the callback.
CREATE TABLE openid_sign_in (
    -- SHA-256 of the parameter `state`.
    state_hash BLOB PRIMARY KEY,
    -- SHA-256 of the cookie of the browser.
    browser_hash BLOB NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    return_to TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX openid_sign_in_expiry ON openid_sign_in (expires_at);

CREATE TABLE preview_token (
    pk INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    -- NULL for a command on the data directory.
    actor INTEGER REFERENCES actor (pk),
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX preview_token_actor ON preview_token (actor, pk);

-- Settings of the administration page of a user.
CREATE TABLE user_settings (
    user INTEGER PRIMARY KEY REFERENCES user (actor) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT;

-- Unfinished work of one actor on one object. `object` is the row of an object, live or in the trash;
-- a copy of an object that does not exist yet has `new_id` instead.
CREATE TABLE working_copy (
    pk INTEGER PRIMARY KEY,
    actor INTEGER NOT NULL REFERENCES actor (pk),
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    object INTEGER,
    new_id TEXT,
    base TEXT,
    title TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX working_copy_object ON working_copy (actor, object) WHERE object IS NOT NULL;
CREATE UNIQUE INDEX working_copy_new ON working_copy (actor, ctd, new_id) WHERE new_id IS NOT NULL;
CREATE INDEX working_copy_of_object ON working_copy (object) WHERE object IS NOT NULL;
CREATE INDEX working_copy_saved ON working_copy (saved_at);

-- Views of a type that everyone who reads the type shares.
CREATE TABLE shared_view (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    actor INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX shared_view_type ON shared_view (ctd, name);

-- Bulk jobs.
CREATE TABLE job (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    ctd INTEGER NOT NULL,
    type_name TEXT NOT NULL,
    action TEXT NOT NULL,
    -- The members of the request that the action needs, as JSON.
    request TEXT NOT NULL,
    actor INTEGER,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    succeeded INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    -- Why the job failed.
    error TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE INDEX job_open ON job (pk) WHERE finished_at IS NULL;
-- The objects that a job has still to process, in chunks. `position` is that of the first object of a
-- chunk in the job; `objects` are row numbers, packed by the program.
CREATE TABLE job_chunk (
    job INTEGER NOT NULL REFERENCES job (pk) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    objects BLOB NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_refusal (
    job INTEGER NOT NULL REFERENCES job (pk) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- The id and the errors of a refused object, as JSON.
    errors TEXT NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

-- Ids of deleted objects whose trash entry was removed early or restored under another id.
CREATE TABLE removed_id (
    pk INTEGER PRIMARY KEY,
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    id TEXT NOT NULL COLLATE NOCASE,
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_id_deleted ON removed_id (ctd, deleted_at);
CREATE INDEX removed_id_expiry ON removed_id (deleted_at);

-- Actors are rows of `actor`; NULL is a command on the data directory, -1 stands in rows of earlier
-- versions, which did not record it. `updated_by` made the change that set `updated_at`; -1 there means
-- the editor. `changed` lists the properties that differ from the version before, as a JSON array; NULL in
-- rows of earlier versions.
ALTER TABLE object ADD COLUMN updated_by INTEGER DEFAULT -1;
ALTER TABLE object ADD COLUMN scheduled_by INTEGER DEFAULT -1;
ALTER TABLE object ADD COLUMN changed TEXT;
ALTER TABLE published ADD COLUMN updated_by INTEGER DEFAULT -1;
ALTER TABLE object_version ADD COLUMN changed TEXT;
ALTER TABLE trash ADD COLUMN updated_by INTEGER DEFAULT -1;
ALTER TABLE trash ADD COLUMN changed TEXT;
ALTER TABLE trash ADD COLUMN deleted_by INTEGER DEFAULT -1;
-- Revision of the type at the deletion.
ALTER TABLE trash ADD COLUMN type_rev INTEGER NOT NULL DEFAULT 0;
UPDATE trash SET type_rev = (SELECT rev FROM ctd WHERE ctd.pk = trash.ctd);
CREATE INDEX trash_newest ON trash (deleted_at, pk, ctd);
CREATE INDEX trash_id ON trash (ctd, id);

-- Definitions that were replaced while objects of the type were in the trash: a restored object is
-- converted from each to the next. `rev` is the last revision with the definition.
CREATE TABLE former_definition (
    ctd INTEGER NOT NULL REFERENCES ctd (pk) ON DELETE CASCADE,
    rev INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (ctd, rev)
) STRICT, WITHOUT ROWID;

-- The journal is also the record of activity, with the title at the time of the change.
ALTER TABLE journal ADD COLUMN actor INTEGER DEFAULT -1;
ALTER TABLE journal ADD COLUMN title TEXT;
ALTER TABLE journal ADD COLUMN properties TEXT;
CREATE INDEX journal_object ON journal (object_id COLLATE NOCASE, seq) WHERE object_id IS NOT NULL;
CREATE INDEX journal_actor ON journal (actor, seq);

-- Who made the change that a delivery is about.
ALTER TABLE webhook_delivery ADD COLUMN actor INTEGER DEFAULT -1;

-- idempotency.api_key holds users too.
ALTER TABLE idempotency RENAME COLUMN api_key TO actor;
