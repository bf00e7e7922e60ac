//! Reading the trash; objects move there in [`super::object`].

use cms_model::{clock::Timestamp, error::Result, object::model::StoredObject, paging::ListRange};
use rusqlite::params;

use super::{
    Reader,
    error::map,
    object::{EXTRA_COLUMN, read},
};

impl Reader<'_> {
    /// Counts the deletions of a type in the trash.
    pub fn trash_count(&self, ctd: i64) -> Result<u64> {
        self.query_row("SELECT count(*) FROM trash WHERE ctd = ?1", [ctd], |row| row.get(0))
    }

    /// Passes deleted objects of a type to `visit`, oldest deletion first.
    pub fn trash(
        &self,
        ctd: i64,
        slice: ListRange,
        mut visit: impl FnMut(StoredObject<'_>),
    ) -> Result<()> {
        self.each_row(
            "SELECT pk, id, created_at, updated_at, version, version_at, status, public_version,
                    published_at, workflow_state, workflow_public_version, workflow_published_at,
                    owner, editor, title, data, NULL, NULL, deleted_at
             FROM trash WHERE ctd = ?1 ORDER BY deleted_at, pk LIMIT ?2 OFFSET ?3",
            params![ctd, slice.limit, slice.offset],
            |row| {
                let mut stored = read(row).map_err(map)?;
                let deleted_at = Timestamp(row.get(EXTRA_COLUMN).map_err(map)?);
                stored.internal.deleted_at = Some(deleted_at.seconds());
                visit(stored);
                Ok(())
            },
        )
    }
}
