//! Publishing: statuses of objects, the rows of the public view, and schedules.

use cms_model::{
    context::Stamp,
    error::Result,
    object::model::{Schedule, Status},
};
use rusqlite::params;

use super::{Reader, WriteTransaction, named};

/// Copies rows of `object` to the public view, which publishes their current version.
macro_rules! publish {
    () => {
        "INSERT INTO published
             (pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
              published_at, workflow_state, workflow_public_version, workflow_published_at, owner,
              editor, slot_count, slots, title, data, updated_by)
         SELECT pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
                published_at, workflow_state, workflow_public_version, workflow_published_at, owner,
                editor, slot_count, slots, title, data, updated_by
         FROM object "
    };
}
pub(super) use publish;

/// Replaces the row of an earlier publication. `REPLACE` would also remove a row of another object
/// with the same id.
macro_rules! replace {
    () => {
        " ON CONFLICT (pk) DO UPDATE SET
             ctd = excluded.ctd, id = excluded.id, created_at = excluded.created_at,
             updated_at = excluded.updated_at, version = excluded.version,
             version_at = excluded.version_at, status = excluded.status,
             public_version = excluded.public_version, published_at = excluded.published_at,
             workflow_state = excluded.workflow_state,
             workflow_public_version = excluded.workflow_public_version,
             workflow_published_at = excluded.workflow_published_at, owner = excluded.owner,
             editor = excluded.editor, slot_count = excluded.slot_count, slots = excluded.slots,
             title = excluded.title, data = excluded.data, updated_by = excluded.updated_by"
    };
}

impl Reader<'_> {
    /// Returns the stored properties of the published version.
    pub fn published_data(&self, pk: i64) -> Result<Option<String>> {
        self.query_optional("SELECT data FROM published WHERE pk = ?1", [pk], |row| row.get(0))
    }

    /// Returns whether a scheduled publication is due.
    pub fn is_any_due(&self, now: i64) -> Result<bool> {
        self.query_value("SELECT EXISTS (SELECT 1 FROM object WHERE scheduled_at <= ?1)", [now])
    }

    /// Returns objects whose publication is due, earliest first: type, primary key and status.
    pub fn due(&self, now: i64, limit: usize) -> Result<Vec<(i64, i64, Status)>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT ctd, pk, status FROM object WHERE scheduled_at <= ?1
             ORDER BY scheduled_at, pk LIMIT ?2",
            [now, limit],
            |row| Ok((row.get(0)?, row.get(1)?, named(row, 2, Status::parse)?)),
        )
    }
}

impl WriteTransaction<'_> {
    /// Publishes the current version of an object; cancels a scheduled publication.
    pub fn publish(&self, ctd: i64, pk: i64, stamp: Stamp) -> Result<()> {
        let was_published = self.published_data(pk)?.is_some();
        self.execute(
            "UPDATE object SET status = 'public', updated_at = ?2, updated_by = ?3,
                 public_version = version, published_at = ?2, scheduled_at = NULL,
                 scheduled_zone = NULL
             WHERE pk = ?1",
            params![pk, stamp.at.seconds(), stamp.actor],
        )?;
        self.execute(concat!(publish!(), "WHERE pk = ?1", replace!()), [pk])?;
        self.record_public_change(ctd, i64::from(!was_published))
    }

    /// Removes an object from the public view, and sets its status to `draft` or `archived`.
    pub fn unpublish(&self, ctd: i64, pk: i64, status: Status, stamp: Stamp) -> Result<()> {
        self.execute(
            "UPDATE object SET status = ?2, updated_at = ?3, updated_by = ?4,
                 public_version = NULL, published_at = NULL, scheduled_at = NULL,
                 scheduled_zone = NULL
             WHERE pk = ?1",
            params![pk, status.as_str(), stamp.at.seconds(), stamp.actor],
        )?;
        self.delete_published_row(ctd, pk)
    }

    /// Sets or removes the schedule of an object; `actor` is recorded as its author.
    pub fn set_schedule(
        &self,
        ctd: i64,
        pk: i64,
        schedule: Option<&Schedule<'_>>,
        actor: Option<i64>,
    ) -> Result<()> {
        self.execute(
            "UPDATE object SET scheduled_at = ?2, scheduled_zone = ?3, scheduled_by = ?4
             WHERE pk = ?1",
            params![
                pk,
                schedule.map(|schedule| schedule.at),
                schedule.map(|schedule| &*schedule.zone),
                actor
            ],
        )?;
        self.record_change(ctd, 0)
    }

    /// Publishes a restored object in its current version.
    pub(super) fn publish_restored(&self, ctd: i64, pk: i64) -> Result<()> {
        self.execute(concat!(publish!(), "WHERE pk = ?1", replace!()), [pk])?;
        self.record_public_change(ctd, 1)
    }

    /// Removes the published version of an object, if any.
    pub(super) fn delete_published_row(&self, ctd: i64, pk: i64) -> Result<()> {
        let removed = self.execute_and_count("DELETE FROM published WHERE pk = ?1", [pk])?;
        self.record_public_change(ctd, -i64::from(removed > 0))
    }

    /// Removes all published versions of a type.
    pub(super) fn delete_published_rows(&self, ctd: i64) -> Result<()> {
        self.execute("DELETE FROM published WHERE ctd = ?1", [ctd])?;
        self.execute(
            "UPDATE ctd_state SET published = 0, changes = changes + 1 WHERE ctd = ?1",
            [ctd],
        )
    }

    /// Turns Draft & Public on: existing objects become published (see
    /// docs/reference/publishing.md#turn-draft--public-on-or-off).
    pub fn enable_draft_public(&self, ctd: i64) -> Result<()> {
        self.execute(
            "UPDATE object SET status = 'public', public_version = version,
                 published_at = updated_at
             WHERE ctd = ?1",
            [ctd],
        )?;
        let published =
            self.execute_and_count(concat!(publish!(), "WHERE ctd = ?1", replace!()), [ctd])?;
        self.record_public_change(ctd, i64::try_from(published).unwrap_or(i64::MAX))
    }

    /// Turns Draft & Public off: the current version of every object becomes public (see
    /// docs/reference/publishing.md#turn-draft--public-on-or-off).
    pub fn disable_draft_public(&self, ctd: i64) -> Result<()> {
        self.execute(
            "UPDATE object SET status = 'public', public_version = NULL, published_at = NULL,
                 scheduled_at = NULL, scheduled_zone = NULL
             WHERE ctd = ?1",
            [ctd],
        )?;
        self.delete_published_rows(ctd)
    }

    /// Returns the primary keys of objects that were edited after publication.
    pub fn modified_objects(&self, ctd: i64) -> Result<Vec<i64>> {
        self.query_values("SELECT pk FROM object WHERE ctd = ?1 AND status = 'modified'", [ctd])
    }

    /// Increments the change counter of a type, and adds to the number of objects in its public
    /// view.
    pub(super) fn record_public_change(&self, ctd: i64, added: i64) -> Result<()> {
        self.execute(
            "UPDATE ctd_state SET published = published + ?2, changes = changes + 1
             WHERE ctd = ?1",
            [ctd, added],
        )
    }
}
