//! Rows of working copies, the unfinished work of actors on objects.
//!
//! Lists do not select the column `data`: it is the last one of its row, so SQLite does not read it.

use cms_model::{clock::Timestamp, error::Result};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction};

/// The object that a working copy belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkingCopySubject {
    /// The primary key of an object, live or in the trash.
    Object(i64),
    /// An object that does not exist yet: its type, and the id in the path.
    New { ctd: i64, id: String },
}

/// A working copy without its data.
#[derive(Clone, Debug)]
pub struct WorkingCopyRow {
    pub ctd: i64,
    pub subject: WorkingCopySubject,
    pub base: Option<String>,
    pub title: String,
    pub saved_at: Timestamp,
}

const COLUMNS: &str = "ctd, object, new_id, base, title, saved_at";

const OF_OBJECT: &str = "actor = ?1 AND object = ?2";
const OF_NEW: &str = "actor = ?1 AND ctd = ?2 AND new_id = ?3";

fn read(row: &Row<'_>) -> rusqlite::Result<WorkingCopyRow> {
    let ctd = row.get(0)?;
    Ok(WorkingCopyRow {
        ctd,
        subject: match row.get(1)? {
            Some(pk) => WorkingCopySubject::Object(pk),
            None => WorkingCopySubject::New { ctd, id: row.get(2)? },
        },
        base: row.get(3)?,
        title: row.get(4)?,
        saved_at: Timestamp(row.get(5)?),
    })
}

impl Reader<'_> {
    /// Returns the working copy of an actor, and its data as compact JSON.
    pub fn working_copy(
        &self,
        actor: i64,
        subject: &WorkingCopySubject,
    ) -> Result<Option<(WorkingCopyRow, String)>> {
        let select =
            |condition| format!("SELECT {COLUMNS}, data FROM working_copy WHERE {condition}");
        let read = |row: &Row<'_>| Ok((read(row)?, row.get(6)?));
        match subject {
            WorkingCopySubject::Object(pk) => {
                self.query_optional(&select(OF_OBJECT), [actor, *pk], read)
            }
            WorkingCopySubject::New { ctd, id } => {
                self.query_optional(&select(OF_NEW), params![actor, ctd, id], read)
            }
        }
    }

    /// Returns the working copies of an actor, newest first.
    pub fn working_copies(&self, actor: i64) -> Result<Vec<WorkingCopyRow>> {
        // Each part uses a partial index.
        let sql = format!(
            "SELECT {COLUMNS}, pk FROM working_copy WHERE actor = ?1 AND object IS NOT NULL
             UNION ALL
             SELECT {COLUMNS}, pk FROM working_copy WHERE actor = ?1 AND new_id IS NOT NULL
             ORDER BY saved_at DESC, pk DESC"
        );
        self.query_rows(&sql, [actor], read)
    }

    /// Counts the working copies of an actor.
    pub fn working_copy_count(&self, actor: i64) -> Result<u64> {
        let sql = "
            SELECT (SELECT count(*) FROM working_copy WHERE actor = ?1 AND object IS NOT NULL)
                 + (SELECT count(*) FROM working_copy WHERE actor = ?1 AND new_id IS NOT NULL)";
        self.query_value(sql, [actor])
    }

    /// Returns whether a working copy was saved before a time.
    pub fn has_working_copies_before(&self, before: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM working_copy WHERE saved_at < ?1)";
        self.query_value(sql, [before.0])
    }
}

impl WriteTransaction<'_> {
    /// Stores a working copy, and replaces the one of the same object.
    pub fn put_working_copy(&self, actor: i64, copy: &WorkingCopyRow, data: &str) -> Result<()> {
        self.remove_working_copy(actor, &copy.subject)?;
        let (object, new_id) = match &copy.subject {
            WorkingCopySubject::Object(pk) => (Some(pk), None),
            WorkingCopySubject::New { id, .. } => (None, Some(id)),
        };
        let (base, title, saved_at) = (&copy.base, &copy.title, copy.saved_at.0);
        self.execute(
            "INSERT INTO working_copy (actor, ctd, object, new_id, base, title, saved_at, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![actor, copy.ctd, object, new_id, base, title, saved_at, data],
        )
    }

    /// Removes a working copy, if there is one.
    pub fn remove_working_copy(&self, actor: i64, subject: &WorkingCopySubject) -> Result<()> {
        let delete = |condition| format!("DELETE FROM working_copy WHERE {condition}");
        match subject {
            WorkingCopySubject::Object(pk) => self.execute(&delete(OF_OBJECT), [actor, *pk]),
            WorkingCopySubject::New { ctd, id } => {
                self.execute(&delete(OF_NEW), params![actor, ctd, id])
            }
        }
    }

    /// Removes at most `limit` of the working copies saved before a time, oldest first.
    pub fn remove_working_copies_before(&self, before: Timestamp, limit: usize) -> Result<()> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.execute(
            "DELETE FROM working_copy WHERE pk IN (
                 SELECT pk FROM working_copy WHERE saved_at < ?1 ORDER BY saved_at LIMIT ?2)",
            [before.0, limit],
        )
    }

    /// Removes the working copies of a revoked key or a removed user.
    pub fn remove_working_copies_of(&self, actor: i64) -> Result<()> {
        for column in ["object", "new_id"] {
            let sql = format!("DELETE FROM working_copy WHERE actor = ?1 AND {column} IS NOT NULL");
            self.execute(&sql, [actor])?;
        }
        Ok(())
    }
}
