//! State of the clean-up: the retention clock, and orphaned files.

use cms_model::{clock::Timestamp, error::Result, retention::RetentionClock};
use rusqlite::params;

use super::{Reader, Writer, error::map};

impl Reader<'_> {
    pub fn retention_clock(&self) -> Result<RetentionClock> {
        self.statement(
            "SELECT clock_seen_at, clock_trusted_at, clock_waited FROM meta WHERE id = 1",
        )?
        .query_row([], |row| {
            Ok(RetentionClock {
                seen_at: Timestamp(row.get(0)?),
                trusted_at: Timestamp(row.get(1)?),
                waited_micros: row.get(2)?,
            })
        })
        .map_err(map)
    }

    /// Returns the names of orphaned files with the time at which they were first seen.
    pub fn orphans(&self) -> Result<Vec<(String, Timestamp)>> {
        let mut statement = self.statement("SELECT file, seen_at FROM orphan")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, Timestamp(row.get(1)?))));
        rows.map_err(map)?.map(|row| row.map_err(map)).collect()
    }
}

impl Writer<'_> {
    pub fn set_retention_clock(&self, clock: &RetentionClock) -> Result<()> {
        self.statement(
            "UPDATE meta SET clock_seen_at = ?1, clock_trusted_at = ?2, clock_waited = ?3",
        )?
        .execute(params![clock.seen_at.0, clock.trusted_at.0, clock.waited_micros])
        .map_err(map)?;
        Ok(())
    }

    pub fn note_orphan(&self, file: &str, seen_at: Timestamp) -> Result<()> {
        self.statement("INSERT OR REPLACE INTO orphan (file, seen_at) VALUES (?1, ?2)")?
            .execute(params![file, seen_at.0])
            .map_err(map)?;
        Ok(())
    }

    pub fn delete_orphan_record(&self, file: &str) -> Result<()> {
        self.statement("DELETE FROM orphan WHERE file = ?1")?.execute([file]).map_err(map)?;
        Ok(())
    }

    pub fn delete_orphan_records(&self) -> Result<()> {
        self.statement("DELETE FROM orphan")?.execute([]).map_err(map)?;
        Ok(())
    }
}
