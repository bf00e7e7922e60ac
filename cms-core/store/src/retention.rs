//! State of the clean-up: the retention clock, and orphaned files.

use cms_model::{clock::Timestamp, error::Result, retention::RetentionClock};
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    pub fn retention_clock(&self) -> Result<RetentionClock> {
        self.query_row(
            "SELECT clock_seen_at, clock_trusted_at, clock_waited FROM meta WHERE id = 1",
            [],
            |row| {
                Ok(RetentionClock {
                    system_time: Timestamp(row.get(0)?),
                    retention_time: Timestamp(row.get(1)?),
                    running_micros: row.get(2)?,
                })
            },
        )
    }

    /// Returns the names of orphaned files with the time at which they were first seen.
    pub fn orphans(&self) -> Result<Vec<(String, Timestamp)>> {
        self.query_rows("SELECT file, seen_at FROM orphan", [], |row| {
            Ok((row.get(0)?, Timestamp(row.get(1)?)))
        })
    }
}

impl WriteTransaction<'_> {
    pub fn set_retention_clock(&self, clock: &RetentionClock) -> Result<()> {
        self.execute(
            "UPDATE meta SET clock_seen_at = ?1, clock_trusted_at = ?2, clock_waited = ?3",
            params![clock.system_time.0, clock.retention_time.0, clock.running_micros],
        )
    }

    pub fn record_orphan(&self, file: &str, seen_at: Timestamp) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO orphan (file, seen_at) VALUES (?1, ?2)",
            params![file, seen_at.0],
        )
    }

    pub fn delete_orphan_record(&self, file: &str) -> Result<()> {
        self.execute("DELETE FROM orphan WHERE file = ?1", [file])
    }

    pub fn delete_orphan_records(&self) -> Result<()> {
        self.execute("DELETE FROM orphan", [])
    }
}
