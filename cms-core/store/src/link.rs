//! Links between objects.

use cms_model::error::Result;
use rusqlite::params;

use super::{Reader, Writer, error::map};

impl Reader<'_> {
    /// Returns the primary keys of at most `limit` live objects that link to an object, except the
    /// object itself.
    pub fn linking_objects(
        &self,
        target: (&str, &str),
        itself: i64,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT object FROM link
             WHERE target_type = ?1 AND target_id = ?2 AND object <> ?3 LIMIT ?4",
            params![target.0, target.1, itself, limit],
            |row| row.get(0),
        )
    }

    /// Returns whether another live object links to an object.
    pub fn is_linked(&self, target: (&str, &str), itself: i64) -> Result<bool> {
        let found: Option<i64> = self.query_optional(
            "SELECT 1 FROM link
             WHERE target_type = ?1 AND target_id = ?2 AND object <> ?3 LIMIT 1",
            params![target.0, target.1, itself],
            |row| row.get(0),
        )?;
        Ok(found.is_some())
    }
}

impl Writer<'_> {
    /// Stores the links of a new object.
    pub fn insert_links<'l>(
        &self,
        object: i64,
        targets: impl Iterator<Item = (&'l str, &'l str)>,
    ) -> Result<()> {
        let mut statement = self.statement("INSERT OR IGNORE INTO link VALUES (?1, ?2, ?3)")?;
        for (content_type, id) in targets {
            statement.execute(params![content_type, id, object]).map_err(map)?;
        }
        Ok(())
    }

    /// Replaces the stored links of an object.
    pub fn replace_links<'l>(
        &self,
        object: i64,
        targets: impl Iterator<Item = (&'l str, &'l str)>,
    ) -> Result<()> {
        self.execute("DELETE FROM link WHERE object = ?1", [object])?;
        self.insert_links(object, targets)
    }
}
