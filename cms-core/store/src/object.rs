//! Rows of live objects. Deleted ones are in [`super::trash`].

use std::borrow::Cow;

use cms_model::{
    content_type::indexed::IndexedProperties,
    error::Result,
    object::model::{Columns, Edition, Internal, Schedule, Status, StoredObject},
};
use rusqlite::{Row, params};
use serde::Serialize;

use super::{Reader, WriteTransaction, error::map, named, text};

/// The columns of [`read`], in its order.
macro_rules! columns {
    () => {
        columns!("data")
    };
    ($data:literal) => {
        concat!(
            "pk, id, created_at, updated_at, version, version_at, status, public_version, \
             published_at, workflow_state, workflow_public_version, workflow_published_at, owner, \
             editor, title, ",
            $data,
            ", scheduled_at, scheduled_zone"
        )
    };
}
/// Position of the first column that a statement selects in addition.
pub(super) const EXTRA_COLUMN: usize = 18;

/// Selects one object by id, and `$more`.
macro_rules! one {
    ($table:literal, $more:literal) => {
        concat!("SELECT ", columns!(), $more, " FROM ", $table, " WHERE ctd = ?1 AND id = ?2")
    };
}

/// The table of an edition; its name is the prefix of its indexes.
pub(super) fn table_of(edition: Edition) -> &'static str {
    match edition {
        Edition::Current => "object",
        Edition::Published => "published",
    }
}

/// The select list of [`read`].
pub(super) fn columns_of(columns: Columns) -> &'static str {
    match columns {
        Columns::All => columns!(),
        Columns::WithoutProperties => columns!("'{}'"),
        Columns::IndexedProperties => columns!("slots"),
    }
}

/// Reads a row of [`columns_of`] without copying its texts.
pub(super) fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<StoredObject<'r>> {
    let text = |column| text(row, column).map(Cow::Borrowed);
    Ok(StoredObject {
        pk: row.get(0)?,
        id: text(1)?,
        internal: Internal {
            created_at: row.get(2)?,
            updated_at: row.get(3)?,
            deleted_at: None,
            version: row.get(4)?,
            version_at: row.get(5)?,
            status: named(row, 6, Status::parse)?,
            public_version: row.get(7)?,
            published_at: row.get(8)?,
            workflow_state: text(9)?,
            workflow_public_version: row.get(10)?,
            workflow_published_at: row.get(11)?,
            owner: row.get(12)?,
            editor: row.get(13)?,
            title: text(14)?,
            schedule: match row.get(16)? {
                Some(at) => Some(Schedule { at, zone: text(17)? }),
                None => None,
            },
        },
        data: text(15)?,
    })
}

/// The changes of a write; times are seconds since the epoch.
#[derive(Clone, Debug)]
pub struct ObjectChange {
    pub data: String,
    pub title: String,
    pub status: Status,
    /// Workflow state of a new object; an edit does not change it.
    pub workflow_state: String,
    /// Version and time of the latest approved version.
    pub approval: Option<(i64, i64)>,
    /// Creation date, when it differs from the time of the write.
    pub created_at: Option<i64>,
    pub at: i64,
    pub editor: Option<i64>,
    /// Names of the properties that differ from the previous version, as a JSON array.
    pub changed: String,
}

impl Reader<'_> {
    /// Passes one object to `visit`, without copying it; none when it does not exist.
    pub fn object<T>(
        &self,
        edition: Edition,
        ctd: i64,
        id: &str,
        visit: impl FnOnce(StoredObject<'_>) -> T,
    ) -> Result<Option<T>> {
        let sql = match edition {
            Edition::Current => one!("object", ""),
            Edition::Published => one!("published", ""),
        };
        self.query_optional(sql, params![ctd, id], |row| Ok(visit(read(row)?)))
    }

    /// As [`Self::object`], and returns the schema revision of the same snapshot.
    pub fn object_and_revision<T>(
        &self,
        edition: Edition,
        ctd: i64,
        id: &str,
        visit: impl FnOnce(StoredObject<'_>) -> T,
    ) -> Result<Option<(T, i64)>> {
        let sql = match edition {
            Edition::Current => one!("object", ", (SELECT schema_rev FROM meta)"),
            Edition::Published => one!("published", ", (SELECT schema_rev FROM meta)"),
        };
        self.query_optional(sql, params![ctd, id], |row| {
            Ok((visit(read(row)?), row.get(EXTRA_COLUMN)?))
        })
    }

    /// Passes the objects with these ids that exist to `visit`, in no particular order, with one
    /// statement. Stops at the first error of `visit`.
    pub fn objects(
        &self,
        edition: Edition,
        ctd: i64,
        ids: &[impl Serialize],
        columns: Columns,
        mut visit: impl FnMut(StoredObject<'_>) -> Result<()>,
    ) -> Result<()> {
        let ids = serde_json::to_string(ids).expect("strings are valid JSON");
        let (columns, table) = (columns_of(columns), table_of(edition));
        // A join looks up each id, where IN would first sort them into a temporary table.
        let sql = format!(
            "SELECT {columns} FROM (SELECT value AS wanted FROM json_each(?2)) CROSS JOIN {table} \
             ON ctd = ?1 AND id = wanted"
        );
        self.each_row(&sql, params![ctd, ids], |row| visit(read(row).map_err(map)?))
    }

    /// Passes the objects with these primary keys that exist to `visit`, with their type, in no
    /// particular order.
    pub fn object_rows(
        &self,
        edition: Edition,
        pks: &[i64],
        columns: Columns,
        mut visit: impl FnMut(i64, StoredObject<'_>) -> Result<()>,
    ) -> Result<()> {
        let pks = serde_json::to_string(pks).expect("numbers are valid JSON");
        let (columns, table) = (columns_of(columns), table_of(edition));
        let sql = format!(
            "SELECT {columns}, ctd FROM (SELECT value AS wanted FROM json_each(?1)) \
             CROSS JOIN {table} ON pk = wanted"
        );
        self.each_row(&sql, [pks], |row| {
            visit(row.get(EXTRA_COLUMN).map_err(map)?, read(row).map_err(map)?)
        })
    }

    /// Returns the next objects of a type in creation order: creation date and primary key.
    pub fn object_rows_after(
        &self,
        ctd: i64,
        (created_at, pk): (i64, i64),
        limit: usize,
    ) -> Result<Vec<(i64, i64)>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT created_at, pk FROM object WHERE ctd = ?1 AND (created_at, pk) > (?2, ?3)
             ORDER BY created_at, pk LIMIT ?4",
            [ctd, created_at, pk, limit],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns the next ids of a type in order, after an id that need not exist.
    pub fn object_ids_after(&self, ctd: i64, id: &str, limit: u32) -> Result<Vec<String>> {
        self.query_values(
            "SELECT id FROM object WHERE ctd = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            params![ctd, id, limit],
        )
    }

    /// Returns the primary key of a live object.
    pub fn object_pk(&self, ctd: i64, id: &str) -> Result<Option<i64>> {
        self.query_optional(
            "SELECT pk FROM object WHERE ctd = ?1 AND id = ?2",
            params![ctd, id],
            |row| row.get(0),
        )
    }

    /// Returns id, version and title of a live object.
    pub fn object_summary(&self, pk: i64) -> Result<(String, i64, String)> {
        let sql = "SELECT id, version, title FROM object WHERE pk = ?1";
        self.query_row(sql, [pk], |row| row.try_into())
    }

    /// Returns the stored properties of an object.
    pub fn object_data(&self, pk: i64) -> Result<String> {
        self.query_value("SELECT data FROM object WHERE pk = ?1", [pk])
    }

    /// Counts live objects of all types.
    pub fn live_objects(&self) -> Result<u64> {
        self.query_value("SELECT coalesce(sum(live), 0) FROM ctd_state", [])
    }
}

impl WriteTransaction<'_> {
    /// Inserts a new object in its first version; returns its primary key.
    pub fn insert_object(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        id: &str,
        created_at: i64,
        object: &ObjectChange,
    ) -> Result<i64> {
        self.execute(
            "INSERT INTO object (ctd, id, created_at, updated_at, version, version_at, status,
                 workflow_state, owner, editor, title, data, workflow_public_version,
                 workflow_published_at, slots, slot_count, updated_by, scheduled_by, changed)
             VALUES (?1, ?2, ?13, ?3, 1, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10,
                     property_slots(?8, ?11), ?12, ?6, NULL, ?14)",
            params![
                ctd,
                id,
                object.at,
                object.status.as_str(),
                object.workflow_state,
                object.editor,
                object.title,
                object.data,
                object.approval.map(|(version, _)| version),
                object.approval.map(|(_, at)| at),
                slots.json(),
                slots.count(),
                created_at,
                object.changed,
            ],
        )?;
        self.record_change(ctd, 1)?;
        Ok(self.0.connection.last_insert_rowid())
    }

    /// Writes a new version of an object. The replaced version is kept, and a scheduled publication
    /// is cancelled.
    pub fn update_object(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        pk: i64,
        object: &ObjectChange,
    ) -> Result<()> {
        self.keep_replaced_version(pk)?;
        self.execute(
            "UPDATE object SET updated_at = ?2, version_at = ?2, version = version + 1,
                 status = ?3, editor = ?4, title = ?5, data = ?6, workflow_public_version = ?7,
                 workflow_published_at = ?8, scheduled_at = NULL, scheduled_zone = NULL,
                 updated_by = ?4, changed = ?9
             WHERE pk = ?1",
            params![
                pk,
                object.at,
                object.status.as_str(),
                object.editor,
                object.title,
                object.data,
                object.approval.map(|(version, _)| version),
                object.approval.map(|(_, at)| at),
                object.changed,
            ],
        )?;
        // A separate statement, so that indexes stay untouched when no indexed value changed.
        self.execute(
            "UPDATE object SET slots = property_slots(data, ?2), slot_count = ?3
             WHERE pk = ?1 AND (slot_count <> ?3 OR slots <> property_slots(data, ?2))",
            params![pk, slots.json(), slots.count()],
        )?;
        if let Some(created_at) = object.created_at {
            self.set_created_at(pk, created_at)?;
        }
        self.record_change(ctd, 0)
    }

    /// Changes the creation date of an object, and of its published version.
    fn set_created_at(&self, pk: i64, at: i64) -> Result<()> {
        self.execute(
            "UPDATE object SET created_at = ?2 WHERE pk = ?1 AND created_at <> ?2",
            [pk, at],
        )?;
        self.execute(
            "UPDATE published SET created_at = ?2 WHERE pk = ?1 AND created_at <> ?2",
            [pk, at],
        )
    }

    /// Increments the change counter of a type, and adds to its number of objects.
    pub(super) fn record_change(&self, ctd: i64, added: i64) -> Result<()> {
        self.execute(
            "UPDATE ctd_state SET live = live + ?2, changes = changes + 1 WHERE ctd = ?1",
            params![ctd, added],
        )
    }
}
