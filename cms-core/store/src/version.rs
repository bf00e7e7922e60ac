//! Rows of replaced versions. The newest version of an object is its row in `object`.

use std::collections::HashMap;

use cms_model::{error::Result, object::model::StoredObject};
use rusqlite::params;

use super::{Reader, WriteTransaction, error::map, object};

/// Replaced versions with the columns of [`object::read`], without their properties.
const RANGE: &str =
    "SELECT o.pk, o.id, o.created_at, v.updated_at, v.version, v.version_at, v.status,
            v.public_version, v.published_at, v.workflow_state, v.workflow_public_version,
            v.workflow_published_at, o.owner, v.editor, v.title, '{}', NULL, NULL
     FROM object o JOIN object_version v ON v.object = o.pk
     WHERE o.pk = ?1 AND v.version BETWEEN ?2 AND ?3 ORDER BY v.version";

impl Reader<'_> {
    /// Returns a version of an object, even if the version was replaced or the object was deleted.
    pub fn any_version(&self, pk: i64, version: i64) -> Result<Option<StoredObject<'static>>> {
        self.query_optional(
            "WITH complete AS MATERIALIZED (
                 SELECT pk, id, created_at, updated_at, version, version_at, status,
                        public_version, published_at, workflow_state, workflow_public_version,
                        workflow_published_at, owner, editor, title, data
                 FROM object WHERE pk = ?1
                 UNION ALL
                 SELECT pk, id, created_at, updated_at, version, version_at, status,
                        public_version, published_at, workflow_state, workflow_public_version,
                        workflow_published_at, owner, editor, title, data
                 FROM trash WHERE pk = ?1)
             SELECT *, NULL, NULL FROM complete WHERE version = ?2
             UNION ALL
             SELECT o.pk, o.id, o.created_at, v.updated_at, v.version, v.version_at, v.status,
                    v.public_version, v.published_at, v.workflow_state, v.workflow_public_version,
                    v.workflow_published_at, o.owner, v.editor, v.title, v.data, NULL, NULL
             FROM complete o JOIN object_version v ON v.object = o.pk WHERE v.version = ?2",
            [pk, version],
            |row| Ok(object::read(row)?.into_owned()),
        )
    }

    /// Returns the recorded names of changed properties of the versions from `first` to `last`, by
    /// version, each as a JSON array.
    pub fn changed_properties(
        &self,
        pk: i64,
        first: i64,
        last: i64,
    ) -> Result<HashMap<i64, String>> {
        self.query_rows(
            "SELECT version, changed FROM object_version
             WHERE object = ?1 AND version BETWEEN ?2 AND ?3 AND changed IS NOT NULL
             UNION ALL
             SELECT version, changed FROM object
             WHERE pk = ?1 AND version BETWEEN ?2 AND ?3 AND changed IS NOT NULL",
            [pk, first, last],
            |row| row.try_into(),
        )
    }

    /// Passes the replaced versions from `first` to `last` to `visit`, in this order and without their properties.
    pub fn replaced_versions(
        &self,
        pk: i64,
        first: i64,
        last: i64,
        mut visit: impl FnMut(StoredObject<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_row(RANGE, params![pk, first, last], |row| visit(object::read(row).map_err(map)?))
    }
}

impl WriteTransaction<'_> {
    /// Copies the current version of an object, which is about to be replaced, to `object_version`.
    pub(super) fn keep_replaced_version(&self, pk: i64) -> Result<()> {
        self.execute(
            "INSERT INTO object_version
                 (object, version, updated_at, version_at, status, public_version, published_at,
                  workflow_state, workflow_public_version, workflow_published_at, editor,
                  title, data, changed)
             SELECT pk, version, updated_at, version_at, status, public_version, published_at,
                    workflow_state, workflow_public_version, workflow_published_at, editor,
                    title, data, changed
             FROM object WHERE pk = ?1",
            [pk],
        )
    }

    /// Replaces an id in the addresses of the file of a media object, in its replaced versions.
    pub fn change_file_address(&self, pk: i64, from: &str, to: &str) -> Result<()> {
        self.execute(
            "UPDATE object_version
             SET data = json_replace(data, '$.url', replace(data ->> '$.url', ?2, ?3))
             WHERE object = ?1 AND json_valid(data) AND json_type(data, '$.url') = 'text'",
            params![pk, from, to],
        )
    }
}
