//! Unfinished imports of content folders.

use cms_model::error::Result;
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    /// Returns the folders with an unfinished import, by name, each with the greatest primary key that any object had
    /// when the import started.
    pub fn unfinished_imports(&self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT folder, after FROM unfinished_import ORDER BY folder";
        self.query_rows(sql, [], |row| row.try_into())
    }

    /// Returns the ids, out of `ids`, of live objects whose primary key is greater than `after`.
    pub fn created_after(&self, ctd: i64, ids: &[&str], after: i64) -> Result<Vec<String>> {
        let ids = serde_json::to_string(ids).expect("strings are valid JSON");
        self.query_values(
            "SELECT id FROM (SELECT value AS wanted FROM json_each(?2)) CROSS JOIN object
             ON ctd = ?1 AND id = wanted WHERE pk > ?3",
            params![ctd, ids, after],
        )
    }
}

impl WriteTransaction<'_> {
    /// Records the start of an import of a folder; returns the greatest primary key of an
    /// object.
    pub fn begin_import(&self, folder: &str) -> Result<i64> {
        self.query_value(
            "INSERT INTO unfinished_import (folder, after)
             VALUES (?1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'object'), 0))
             RETURNING after",
            [folder],
        )
    }

    /// Removes the record of a finished import.
    pub fn finish_import(&self, folder: &str) -> Result<()> {
        self.execute("DELETE FROM unfinished_import WHERE folder = ?1", [folder])
    }
}
