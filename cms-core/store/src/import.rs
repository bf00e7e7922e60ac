//! Unfinished imports of content folders.

use cms_model::error::Result;
use rusqlite::params;

use super::{Reader, Writer, error::map};

impl Reader<'_> {
    /// Returns the folders with an unfinished import, by name, each with the greatest primary key
    /// of an object at its start.
    pub fn unfinished_imports(&self) -> Result<Vec<(String, i64)>> {
        let mut statement =
            self.statement("SELECT folder, after FROM unfinished_import ORDER BY folder")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }

    /// Returns those of the ids whose live object was created after the object with a primary key.
    pub fn created_after(&self, ctd: i64, ids: &[&str], after: i64) -> Result<Vec<String>> {
        let ids = serde_json::to_string(ids).expect("strings are valid JSON");
        let mut statement = self.statement(
            "SELECT id FROM (SELECT value AS wanted FROM json_each(?2)) CROSS JOIN object
             ON ctd = ?1 AND id = wanted WHERE pk > ?3",
        )?;
        let found = statement.query_map(params![ctd, ids, after], |row| row.get(0)).map_err(map)?;
        found.map(|id| id.map_err(map)).collect()
    }
}

impl Writer<'_> {
    /// Records the start of an import of a folder; returns the greatest primary key of an
    /// object.
    pub fn begin_import(&self, folder: &str) -> Result<i64> {
        self.statement(
            "INSERT INTO unfinished_import (folder, after)
             VALUES (?1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'object'), 0))
             RETURNING after",
        )?
        .query_row([folder], |row| row.get(0))
        .map_err(map)
    }

    /// Removes the record of a finished import.
    pub fn finish_import(&self, folder: &str) -> Result<()> {
        self.statement("DELETE FROM unfinished_import WHERE folder = ?1")?
            .execute([folder])
            .map_err(map)?;
        Ok(())
    }
}
