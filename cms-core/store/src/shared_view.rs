//! Rows of shared views: named list settings of a type.

use cms_model::{clock::Timestamp, context::Stamp, error::Result};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction};

/// A shared view.
#[derive(Clone, Debug)]
pub struct SharedViewRow {
    pub pk: i64,
    pub id: String,
    pub name: String,
    /// A JSON object.
    pub definition: String,
    /// The creator; none for a command on the data directory.
    pub actor: Option<i64>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "pk, id, name, definition, actor, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<SharedViewRow> {
    Ok(SharedViewRow {
        pk: row.get(0)?,
        id: row.get(1)?,
        name: row.get(2)?,
        definition: row.get(3)?,
        actor: row.get(4)?,
        created_at: Timestamp(row.get(5)?),
        updated_at: Timestamp(row.get(6)?),
    })
}

impl Reader<'_> {
    /// Returns the views of a type, by name.
    pub fn shared_views(&self, ctd: i64) -> Result<Vec<SharedViewRow>> {
        let sql = format!("SELECT {COLUMNS} FROM shared_view WHERE ctd = ?1 ORDER BY name, pk");
        self.query_rows(&sql, [ctd], read)
    }

    /// Returns a view of a type.
    pub fn shared_view(&self, ctd: i64, id: &str) -> Result<Option<SharedViewRow>> {
        let sql = format!("SELECT {COLUMNS} FROM shared_view WHERE id = ?2 AND ctd = ?1");
        self.query_optional(&sql, params![ctd, id], read)
    }

    /// Counts the views of a type.
    pub fn shared_view_count(&self, ctd: i64) -> Result<u64> {
        let sql = "SELECT count(*) FROM shared_view WHERE ctd = ?1";
        self.query_value(sql, [ctd])
    }
}

impl WriteTransaction<'_> {
    /// Stores a new view; returns it as stored.
    pub fn insert_shared_view(
        &self,
        ctd: i64,
        id: &str,
        (name, definition): (&str, &str),
        stamp: Stamp,
    ) -> Result<SharedViewRow> {
        let sql = format!(
            "INSERT INTO shared_view (id, ctd, name, definition, actor, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING {COLUMNS}"
        );
        self.query_row(&sql, params![id, ctd, name, definition, stamp.actor, stamp.at.0], read)
    }

    /// Changes name and definition of a view.
    pub fn update_shared_view(&self, view: &SharedViewRow) -> Result<()> {
        self.execute(
            "UPDATE shared_view SET name = ?2, definition = ?3, updated_at = ?4 WHERE pk = ?1",
            params![view.pk, view.name, view.definition, view.updated_at.0],
        )
    }

    pub fn delete_shared_view(&self, pk: i64) -> Result<()> {
        self.execute("DELETE FROM shared_view WHERE pk = ?1", [pk])
    }
}
